#include "learner/ppo/episode_statistics.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

namespace regraft::learner {

void EpisodeStatistics::add(std::span<const Episode> batch, std::uint64_t version) {
  batch_.clear();
  staleness_.clear();
  for (const Episode& episode : batch) {
    const replay::Segment& end = episode.end();
    Sums& sums = batch_[episode.ticket.model];
    sums.episode_return += end.episode_return;
    sums.final_ratio += end.final_cost_ratio;
    sums.best_ratio += end.best_cost_ratio;
    sums.length += static_cast<double>(episode.step_count());
    ++sums.episodes;
    returns_.push_back(end.episode_return);
    if (returns_.size() > window_) returns_.pop_front();
    double& best = best_.try_emplace(episode.ticket.model, 1.0).first->second;
    best = std::min(best, static_cast<double>(end.best_cost_ratio));
    staleness_.push_back(static_cast<double>(version - episode.weight_version()));
  }
}

void EpisodeStatistics::add_to(CurvePoint& point) const {
  for (const auto& [model, sums] : batch_) {
    const std::string name = model < names_.size() ? names_[model] : std::to_string(model);
    const auto count = static_cast<double>(sums.episodes);
    point.add("return/" + name, sums.episode_return / count);
    point.add("final_cost_ratio/" + name, sums.final_ratio / count);
    point.add("best_cost_ratio/" + name, sums.best_ratio / count);
    point.add("episode_length/" + name, sums.length / count);
  }
  point.staleness = staleness_;
}

nlohmann::json EpisodeStatistics::save() const {
  return {{"returns", returns_}, {"best", best_}};
}

void EpisodeStatistics::restore(const nlohmann::json& saved) {
  saved.at("returns").get_to(returns_);
  saved.at("best").get_to(best_);
}

double EpisodeStatistics::mean_return() const {
  if (returns_.empty()) return 0;
  return std::accumulate(returns_.begin(), returns_.end(), 0.0) / static_cast<double>(returns_.size());
}

double EpisodeStatistics::best_cost_ratio(std::size_t model) const {
  const auto found = best_.find(model);
  return found == best_.end() ? 1.0 : found->second;
}

}
