#include "launch/job/load_test_job.h"

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "actors/replayer.h"
#include "core/base/file.h"
#include "core/base/named_by_config.h"
#include "launch/job/actor_count.h"
#include "launch/job/ppo_job.h"
#include "replay/rollout/replay_error.h"

namespace regraft::launch {
namespace {

using Episodes = std::vector<std::vector<replay::Segment>>;

Episodes load_episodes(const std::string& path) {
  constexpr char kRemedy[] = "name RUN/recorded.episodes of a load test with load_test.record";
  const std::string bytes = read_file(path);
  Episodes episodes;
  try {
    for (learner::Episode& episode : learner::decode_episodes(std::as_bytes(std::span(bytes))))
      episodes.push_back(std::move(episode.segments));
  } catch (const replay::ReplayError& error) {
    throw UsageError("holds no recorded episodes: " + error.problem(), path, kRemedy);
  }
  if (episodes.empty()) throw UsageError("holds no episode", path, kRemedy);
  return episodes;
}

nlohmann::json load_baseline(const std::string& path) {
  nlohmann::json baseline = nlohmann::json::parse(read_file(path), nullptr, false);
  if (!baseline.is_object() || !baseline.value("measured", false))
    throw UsageError("is no summary of a load test that measured", path, "name RUN/summary.json of one");
  return baseline;
}

}  // namespace

learner::LoadTestSetup load_test_setup(const learner::RunFolder& folder, const Config& config) {
  learner::LoadTestSetup setup;
  setup.ppo = ppo_setup(folder, config);
  setup.options = learner::load_test_options().from(config);
  const ActorCount actors = actor_options().from(config);
  setup.connections = static_cast<std::size_t>(actors.real);
  setup.simulated_step_ms = actors.simulated_step_ms;
  if (!setup.options.replay.empty()) {
    load_episodes(setup.options.replay);
    setup.connections *= setup.options.connections;
  }
  if (!setup.options.baseline.empty()) setup.baseline = load_baseline(setup.options.baseline);
  return setup;
}

void run_load_test_actor(const ActorPlace& place) {
  const learner::LoadTestOptions options = learner::load_test_options().from(place.config);
  if (options.replay.empty()) return run_policy_actor(place);
  const Episodes episodes = load_episodes(options.replay);
  std::vector<std::unique_ptr<wire::Link>> links;  // beside the first
  for (std::uint64_t i = 2; i <= options.connections; ++i) {
    wire::LinkOptions further = place.link_options;
    further.actor += "." + std::to_string(i);
    links.push_back(std::make_unique<wire::Link>(std::move(further), place.clock));
  }
  const auto replay = [&](wire::Link& link) { actors::Replayer(link, episodes).run(place.stopped); };
  std::vector<std::future<void>> further;
  for (const auto& link : links)
    further.push_back(std::async(std::launch::async, [&replay, &link] { replay(*link); }));
  replay(place.link);
  for (std::future<void>& each : further) each.get();
}

}
