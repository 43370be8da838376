#include "replay/dream/dream_validity.h"

#include <cmath>
#include <cstdio>

#include "core/base/stats.h"
#include "core/nn/inference/latent_tracker.h"
#include "core/nn/model/controller_file.h"
#include "replay/dream/dream_recorder.h"

namespace regraft::replay {
namespace {

struct Dreamed {
  std::vector<env::Action> actions;  // in the world model's numbering
  double predicted = 0;
};

/// Side by side from one start.
std::vector<Dreamed> dream_episodes(const nn::WorldBundle& bundle, const nn::DreamOptions& options,
                                    const nn::DreamStart& start, int count, std::uint64_t seed) {
  const auto replicas = static_cast<std::uint32_t>(count);
  nn::Controller controller = controller_of(bundle);
  nn::Dream dream(bundle.world, options, replicas);
  nn::DreamPlayer player(dream, controller);
  for (std::uint32_t replica = 0; replica < replicas; ++replica) {
    dream.reset(replica, start, seed + replica);
    player.reset(replica, seed + replica);
  }
  std::vector<Dreamed> episodes(replicas);
  for (bool running = true; running;) {
    player.choose(nn::ActionSelection::drawn);
    for (std::uint32_t replica = 0; replica < replicas; ++replica)
      if (!dream.done(replica)) episodes[replica].actions.push_back(player.actions()[replica]);
    const std::span<const nn::DreamStep> results = dream.step(player.actions());
    running = false;
    for (std::uint32_t replica = 0; replica < replicas; ++replica) {
      episodes[replica].predicted += results[replica].reward;
      running |= !dream.done(replica);
    }
  }
  return episodes;
}

}  // namespace

nn::Controller controller_of(const nn::WorldBundle& bundle) {
  const nn::ControllerFile file = nn::decode_controller(bundle.controller, "bundle");
  return nn::Controller(file.config, file.weights);
}

ControllerEpisodes play_controller(const nn::WorldBundle& bundle, env::Environment& environment,
                                   nn::ActionSelection selection, int episodes, std::uint64_t seed) {
  nn::Controller controller = controller_of(bundle);
  nn::LatentTracker tracker(bundle.world);
  ControllerEpisodes played;
  for (int episode = 0; episode < episodes; ++episode) {
    DreamSegment header;
    header.seed = seed + static_cast<std::uint64_t>(episode);
    environment.reset(header.seed);
    record_episode(environment, tracker, controller, selection, header);
    const cost::Cost& initial = environment.initial_cost();
    played.returns.push_back(1 - environment.cost().latency_us / initial.latency_us);
    played.best.push_back(1 - environment.best().cost.latency_us / initial.latency_us);
    played.memory.push_back(environment.cost().peak_memory_bytes / initial.peak_memory_bytes);
    played.costed += environment.rewrites();
  }
  return played;
}

DreamValidity measure_validity(const nn::WorldBundle& bundle, const nn::DreamOptions& options,
                               env::Environment& environment, int trajectories, std::uint64_t seed) {
  nn::LatentTracker tracker(bundle.world);
  tracker.reset(environment.reset(seed));
  DreamValidity validity;
  std::uint64_t illegal = 0;
  for (const Dreamed& episode : dream_episodes(bundle, options, tracker.start(), trajectories, seed)) {
    environment.reset(seed);
    double real = 0;
    for (const env::Action action : episode.actions) {
      if (environment.done()) break;
      const env::StepResult result = environment.step({tracker.rule_of(action.rule), action.location});
      const bool taken = result.info.invalid == env::Invalid::none;
      ++validity.real_steps;
      illegal += taken ? 0 : 1;
      real += result.reward;  // with the penalty where it was not legal
    }
    validity.costed += environment.rewrites();
    validity.predicted.push_back(episode.predicted);
    validity.real.push_back(real);
    validity.mean_error += std::abs(episode.predicted - real) / trajectories;
  }
  validity.rank_correlation = spearman(validity.predicted, validity.real);
  if (validity.real_steps > 0)
    validity.illegal_share = static_cast<double>(illegal) / static_cast<double>(validity.real_steps);
  return validity;
}

std::string describe(const DreamValidity& validity) {
  char line[200];
  std::snprintf(line, sizeof line,
                "%zu dreamed trajectories: predicted %.4f, real %.4f, |predicted - real| %.4f, rank "
                "correlation %.3f, %.1f %% of the actions not legal\n",
                validity.real.size(), mean(validity.predicted), mean(validity.real), validity.mean_error,
                validity.rank_correlation, 100 * validity.illegal_share);
  return line;
}

}
