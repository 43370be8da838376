#include "launch/job/relay_process.h"

#include <stop_token>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/named_by_config.h"
#include "core/wire/relay.h"
#include "launch/job/job_config.h"
#include "launch/job/join_run.h"
#include "launch/job/worker_signals.h"
#include "learner/job/job_hub.h"
#include "learner/job/learner_options.h"
#include "replay/dream/dream_segment.h"
#include "replay/rollout/trajectory.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

wire::HubOptions hub_options(const RelayPlace& place, const learner::LearnerOptions& options) {
  wire::HubOptions hub;
  const std::string here = learner::run_id_of(place.folder) + "-" + place.name;
  hub.bind = {"tcp://" + place.address + ":*", wire::default_ipc_endpoint(here)};
  hub.authorised = place.folder.authorised();
  hub.dispatch.max_actors = static_cast<std::uint32_t>(options.max_actors);
  hub.dispatch.max_tickets_per_actor = static_cast<std::uint32_t>(options.tickets_per_actor);
  hub.dispatch.actor_timeout_ms = static_cast<std::uint32_t>(options.actor_timeout_s * 1000);
  hub.dispatch.ticket_bytes = replay::kMaxTicketBytes;
  hub.dispatch.max_parts = static_cast<std::uint32_t>(replay::kMaxDreamSegments);
  return hub;
}

}  // namespace

int run_relay_process(const RelayPlace& place) {
  std::stop_source stop;
  const WorkerSignals signals([&] { stop.request_stop(); }, [] {});
  start_log(place.incarnation > 0 ? "warning" : "info", place.name);
  std::error_code ignored;
  if (fs::equivalent(place.file, place.join, ignored))
    throw UsageError("the relay's file is the learner's", "--file", "name another one");
  const learner::LearnerOptions options = learner::learner_options_from(load_run_config(place.folder));
  wire::RelayOptions relay;
  relay.upstream.locate = locate_run(place.join, place.folder, stop.get_token());
  relay.upstream.keys = wire::load_key_pair(place.key);
  relay.upstream.actor = place.name;
  relay.upstream.incarnation = place.incarnation;
  relay.upstream.connect_timeout_ms = 60000;
  relay.hub = hub_options(place, options);
  relay.run_file = place.file;
  fs::create_directories(fs::absolute(place.file).parent_path(), ignored);
  const SystemClock clock;
  return work_in_run(place.folder, [&] { wire::run_relay(relay, clock, stop.get_token()); });
}

}
