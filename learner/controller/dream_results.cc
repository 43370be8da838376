#include "learner/controller/dream_results.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "replay/dream/dream_work.h"

namespace regraft::learner {
namespace {

using replay::DreamSegment;
using replay::DreamSource;

void require(bool holds, const char* problem) {
  if (!holds) throw replay::ReplayError(problem, "dreams", "");
}

constexpr std::size_t kSegmentFrames = 2;  // branches may follow

void check(const DreamSegment& segment, const wire::Delivery& delivery,
           const nn::ControllerConfig& controller) {
  const wire::Ticket& ticket = delivery.ticket;
  require(segment.ticket == ticket.id && segment.generation == ticket.generation &&
              segment.seed == ticket.seed && segment.model == ticket.model,
          "a segment is of another ticket");
  for (const replay::DreamedStep& step : segment.steps) {
    require(step.state.size() == controller.state, "a state is of another world model");
    require(step.legal.back() + 1u == controller.rules, "a mask is of another world model");
    require(step.location < controller.locations, "a location is beyond those it tells apart");
    require(step.rule + 1u != controller.rules || (step.count == 1 && step.location == 0),
            "NO-OP has one location");
  }
  require(!segment.steps.back().terminated || std::isfinite(segment.episode_return),
          "an episode's return is missing");
}

double mean(std::span<const double> values) {
  return values.empty()
             ? 0
             : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

nlohmann::json to_json(const DreamCounts::EpisodeFigures& figures) {
  return {{"episodes", figures.episodes},
          {"steps", figures.steps},
          {"first_return", figures.first_return},
          {"returns", figures.returns}};
}

DreamCounts::EpisodeFigures from_json(const nlohmann::json& saved) {
  DreamCounts::EpisodeFigures figures;
  figures.episodes = saved.at("episodes");
  figures.steps = saved.at("steps");
  figures.first_return = saved.at("first_return");
  figures.returns = saved.at("returns").get<std::deque<double>>();
  return figures;
}

}  // namespace

void check_not_refused(const wire::Delivery& delivery) {
  for (const wire::Part& part : delivery.parts)
    for (const wire::Frame& frame : part.frames)
      if (replay::is_refused_bundle(frame.bytes()))
        throw MixedBundles("a bundle whose parts are of different versions was refused",
                           "bundle " + std::to_string(part.header.weight_version), "");
}

std::vector<DreamSegment> assemble_dreams(const wire::Delivery& delivery,
                                          const nn::ControllerConfig& controller) {
  std::vector<DreamSegment> segments;
  std::uint32_t episode = 0;
  for (const wire::Part& part : delivery.parts) {
    std::vector<std::span<const std::byte>> frames;
    for (const wire::Frame& frame : part.frames)
      if (frames.size() < kSegmentFrames) frames.push_back(frame.bytes());
    segments.push_back(replay::decode_dream_segment(frames));
    const DreamSegment& segment = segments.back();
    check(segment, delivery, controller);
    require(segment.steps.size() == part.header.steps, "a part announces another number of steps");
    if (segment.weight_version != segments.front().weight_version ||
        segment.weight_version != part.header.weight_version)
      throw MixedBundles("its segments were acted with different bundles", "dreams", "");
    require(segment.source == segments.front().source, "it is both dreamed and real");
    require(segment.episode == episode, "an episode is missing or cut");
    if (replay::ends_episode(segment)) ++episode;
  }
  require(!segments.empty() && replay::ends_episode(segments.back()), "its last episode has no end");
  return segments;
}

std::vector<replay::Branch> branches_of(const wire::Delivery& delivery) {
  std::vector<replay::Branch> all;
  for (const wire::Part& part : delivery.parts) {
    for (std::size_t i = kSegmentFrames; i < part.frames.size(); ++i) {
      for (replay::Branch& branch : replay::decode_branches(part.frames[i].bytes())) {
        require(branch.model == delivery.ticket.model, "a branch is of another ticket");
        all.push_back(std::move(branch));
      }
    }
  }
  return all;
}

double DreamCounts::EpisodeFigures::mean_return() const {
  return std::accumulate(returns.begin(), returns.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(returns.size(), 1));
}

void DreamCounts::add(std::span<const DreamSegment> batch) {
  for (const DreamSource source : {DreamSource::dreamed, DreamSource::real}) {
    EpisodeFigures& figures = source == DreamSource::real ? real_ : dreamed_;
    std::vector<double> returns;
    for (const DreamSegment& segment : batch) {
      if (segment.source != source) continue;
      figures.steps += segment.steps.size();
      if (replay::ends_episode(segment)) returns.push_back(segment.episode_return);
    }
    add_returns(figures, returns);
  }
}

void DreamCounts::add_dreamed(std::span<const double> returns, std::uint64_t steps) {
  dreamed_.steps += steps;
  add_returns(dreamed_, returns);
}

void DreamCounts::add_returns(EpisodeFigures& figures, std::span<const double> returns) {
  if (returns.empty()) return;
  figures.batch_return = mean(returns);
  if (figures.episodes == 0) figures.first_return = figures.batch_return;
  figures.episodes += returns.size();
  figures.returns.insert(figures.returns.end(), returns.begin(), returns.end());
  while (figures.returns.size() > kWindow) figures.returns.pop_front();
}

void DreamCounts::add_to(CurvePoint& point) const {
  point.add("dreamed/return", dreamed_.batch_return);
  point.add("dreamed/steps", static_cast<double>(dreamed_.steps));
  if (real_.episodes == 0) return;
  point.add("real/return", real_.batch_return);
  point.add("real/steps", static_cast<double>(real_.steps));
}

nlohmann::json DreamCounts::save() const {
  return {{"dreamed", to_json(dreamed_)}, {"real", to_json(real_)}};
}

void DreamCounts::restore(const nlohmann::json& saved) {
  dreamed_ = from_json(saved.at("dreamed"));
  real_ = from_json(saved.at("real"));
}

}
