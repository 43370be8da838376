#include "actors/dream_actor.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "actors/tickets.h"
#include "core/base/log.h"
#include "core/base/rng.h"
#include "core/nn/model/controller_file.h"
#include "replay/dream/dream_recorder.h"

namespace regraft::actors {
namespace {

constexpr std::uint32_t kBranches = 4;             // of a real episode, at most
constexpr std::chrono::seconds kFlushPatience{5};  // until the learner has taken what is sent last

/// As many dreams side by side as were asked for and as a ticket's result can hold.
std::uint32_t replicas_of(const nn::WorldModel& world, const DreamActorOptions& options) {
  const nn::DynamicsConfig& dynamics = world.config.dynamics;
  const std::uint32_t horizon = options.dream.horizon == 0 ? world.horizon : options.dream.horizon;
  const std::uint32_t fitting = replay::episodes_of_a_ticket(
      {.horizon = horizon, .state = dynamics.latent + dynamics.hidden, .rules = dynamics.rules});
  if (fitting == 0)
    throw UsageError("a dream of " + std::to_string(horizon) + " steps is larger than a result may be",
                     "dream.horizon", "dream fewer steps");
  if (fitting < options.replicas)
    log_info("{} dreams a ticket in place of {}: more could exceed a result", fitting, options.replicas);
  return std::min(options.replicas, fitting);
}

}  // namespace

/// What is made of a bundle: the dream anew with another world, the controller's weights with every bundle.
struct DreamActor::Playing {
  Playing(const nn::WorldBundle& bundle, const nn::ControllerFile& file, const DreamActorOptions& options)
      : world(bundle.world.version()),
        weights(file.weights),
        controller(file.config, file.weights),
        dream(bundle.world, options.dream, replicas_of(bundle.world, options)),
        follower(bundle.world, options.dream, 1),
        player(dream, controller) {
    for (const nn::WorldStart& start : bundle.world.starts) starts.push_back(nn::start_of(start));
  }
  Hash128 world;
  nn::Weights weights;
  nn::Controller controller;
  nn::Dream dream, follower;  // the latter follows real episodes
  nn::DreamPlayer player;
  std::vector<nn::DreamStart> starts;
};

DreamActor::DreamActor(wire::Link& link, const DreamActorOptions& options,
                       std::optional<task::WorkloadOptions> real, const Clock& clock)
    : link_(link), options_(options) {
  if (real) real_.emplace(std::move(*real), clock);
}
DreamActor::~DreamActor() = default;

void DreamActor::run(const std::stop_token& stopped) {
  play_tickets(link_, stopped, [this](const wire::Ticket& ticket) {
    load_bundle(ticket);
    if (!work_.individuals.empty()) return measure(ticket);
    send(ticket, real_ ? play(ticket) : dream(ticket));
  });
}

/// Nobody could play the ticket.
void DreamActor::refuse(const wire::Ticket& ticket, const std::string& bundle) {
  wire::PartInfo info;
  info.weight_version = ticket.weight_version;
  info.policy_steps = steps_;
  std::vector<wire::Frame> frames;
  frames.push_back(wire::Frame::adopt(replay::encode_refused_bundle()));
  link_.send(ticket, info, std::move(frames));
  link_.flush(kFlushPatience);
  throw nn::NnError("its parts are of different versions: refused", bundle, "");
}

void DreamActor::load_bundle(const wire::Ticket& ticket) {
  if (playing_ && version_ == ticket.weight_version && generation_ == ticket.generation) return;
  const wire::Weights fetched = fetch_weights(link_, ticket);
  const std::string name = "bundle " + std::to_string(fetched.info.version);
  if (!slot_.take(fetched.bytes, name)) refuse(ticket, name);
  const nn::WorldBundle& bundle = *slot_.bundle();
  const nn::ControllerFile file = nn::decode_controller(bundle.controller, "bundle");
  if (playing_ && playing_->world == bundle.world.version() && playing_->controller.config() == file.config) {
    playing_->weights = file.weights;
    playing_->controller.set_weights(file.weights);
  } else {
    playing_ = std::make_unique<Playing>(bundle, file, options_);
    if (real_) tracker_ = std::make_unique<nn::LatentTracker>(bundle.world);
  }
  work_ = replay::decode_work(bundle.work);
  version_ = fetched.info.version;
  generation_ = ticket.generation;
}

replay::DreamSegment DreamActor::header_of(const wire::Ticket& ticket) const {
  replay::DreamSegment header;
  header.ticket = ticket.id;
  header.generation = ticket.generation;
  header.weight_version = version_;
  header.model = ticket.model;
  header.seed = ticket.seed;
  header.source = real_ ? replay::DreamSource::real : replay::DreamSource::dreamed;
  return header;
}

/// An individual of an evolution: the same episodes for all of them.
void DreamActor::measure(const wire::Ticket& ticket) {
  const std::size_t models = playing_->starts.size();
  const std::vector<float>& query =
      work_.individuals[replay::individual_of(ticket.sequence, models, work_.individuals.size())];
  if (query.size() != nn::query_parameters(playing_->controller.config()))
    throw nn::NnError("an individual is of another controller", "bundle", "");
  std::ranges::copy(query, playing_->weights.values.begin());
  playing_->controller.set_weights(playing_->weights);
  const std::vector<nn::DreamStart> starts(playing_->dream.replicas(),
                                           playing_->starts.at(ticket.model % models));
  replay::DreamReturns returns =
      replay::measure_returns(playing_->dream, playing_->player, starts, ticket.seed);
  returns.ticket = ticket.id;
  returns.generation = ticket.generation;
  returns.weight_version = version_;
  returns.sequence = ticket.sequence;
  steps_ += returns.steps;
  episodes_ += returns.returns.size();
  wire::PartInfo info;
  info.weight_version = version_;
  info.steps = static_cast<std::uint32_t>(returns.steps);
  info.policy_steps = steps_;
  std::vector<wire::Frame> frames;
  frames.push_back(wire::Frame::adopt(replay::encode_returns(returns)));
  link_.send(ticket, info, std::move(frames));
}

/// From the beginning, or from points of real episodes of that model where there are any.
std::vector<replay::DreamSegment> DreamActor::dream(const wire::Ticket& ticket) {
  std::vector<const nn::DreamStart*> points;
  for (const replay::Branch& branch : work_.branches)
    if (branch.model == ticket.model) points.push_back(&branch.start);
  if (points.empty()) points.push_back(&playing_->starts.at(ticket.model % playing_->starts.size()));
  Rng rng(ticket.seed, "starts");
  std::vector<nn::DreamStart> starts;
  for (std::uint32_t i = 0; i < playing_->dream.replicas(); ++i)
    starts.push_back(*points[rng.below(points.size())]);
  const std::uint32_t most_steps = work_.branches.empty() ? 0 : ticket.segment_length;
  return replay::record_dreams(playing_->dream, playing_->player, starts, header_of(ticket), most_steps);
}

std::vector<replay::DreamSegment> DreamActor::play(const wire::Ticket& ticket) {
  env::Environment& environment = real_->environment(ticket.model);
  environment.reset(ticket.seed);
  branches_.clear();
  replay::BranchRecorder recorder;
  auto segments =
      replay::record_episode(environment, *tracker_, playing_->controller, nn::ActionSelection::drawn,
                             header_of(ticket), options_.branch_steps > 0 ? &recorder : nullptr);
  if (options_.branch_steps > 0)
    branches_ = replay::encode_branches(
        recorder.branches(playing_->follower, ticket.model, kBranches, options_.branch_steps, ticket.seed));
  return segments;
}

void DreamActor::send(const wire::Ticket& ticket, const std::vector<replay::DreamSegment>& segments) {
  for (const replay::DreamSegment& segment : segments) {
    steps_ += segment.steps.size();
    if (replay::ends_episode(segment)) ++episodes_;
    wire::PartInfo info;
    info.weight_version = version_;
    info.steps = static_cast<std::uint32_t>(segment.steps.size());
    info.last = &segment == &segments.back();
    info.policy_steps = steps_;
    std::vector<wire::Frame> frames;
    for (replay::Bytes& bytes : replay::encode_dream_segment(segment))
      frames.push_back(wire::Frame::adopt(std::move(bytes)));
    if (info.last && !branches_.empty()) frames.push_back(wire::Frame::adopt(std::exchange(branches_, {})));
    if (!link_.send(ticket, info, std::move(frames))) return;
  }
}

}
