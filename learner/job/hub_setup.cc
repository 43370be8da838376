#include "learner/job/hub_setup.h"

#include "core/base/file.h"
#include "replay/trajectory.h"

namespace regraft::learner {

std::string run_id_of(const RunFolder& folder) {
  const std::string text = read_file(folder.run_id());
  return text.substr(0, text.find('\n'));
}

wire::HubOptions hub_options(const RunFolder& folder, const LearnerOptions& options,
                             const std::string& run_id) {
  wire::HubOptions hub;
  const std::string port = options.port == 0 ? "*" : std::to_string(options.port);
  hub.bind = {"tcp://" + options.address + ":" + port, wire::default_ipc_endpoint(run_id)};
  hub.plain = options.plain;
  if (!options.plain) {
    hub.server_keys = wire::load_or_make_key_pair(folder.server_key());
    hub.authorised = folder.authorised();
  }
  hub.dispatch.max_outstanding_bytes = options.outstanding_mib << 20;
  hub.dispatch.max_tickets_per_actor = static_cast<std::uint32_t>(options.tickets_per_actor);
  hub.dispatch.actor_timeout_ms = static_cast<std::uint32_t>(options.actor_timeout_s * 1000);
  hub.dispatch.deterministic = options.deterministic;
  hub.dispatch.ticket_bytes = replay::kMaxTicketBytes;
  return hub;
}

}  // namespace regraft::learner
