#include "learner/job/job_hub.h"

#include "core/base/file.h"
#include "replay/rollout/trajectory.h"

namespace regraft::learner {
namespace {

wire::HubOptions hub_options(const RunFolder& folder, const LearnerOptions& options,
                             const std::string& run_id) {
  wire::HubOptions hub;
  const std::string port = options.port == 0 ? "*" : std::to_string(options.port);
  hub.bind = {"tcp://" + options.address + ":" + port};
  if (options.ipc) hub.bind.push_back(wire::default_ipc_endpoint(run_id));
  hub.plain = options.plain;
  if (!options.plain) {
    hub.server_keys = wire::load_or_make_key_pair(folder.server_key());
    hub.authorised = folder.authorised();
  }
  hub.dispatch.max_outstanding_bytes = options.outstanding_mib << 20;
  hub.dispatch.max_actors = static_cast<std::uint32_t>(options.max_actors);
  hub.dispatch.max_tickets_per_actor = static_cast<std::uint32_t>(options.tickets_per_actor);
  hub.dispatch.actor_timeout_ms = static_cast<std::uint32_t>(options.actor_timeout_s * 1000);
  hub.dispatch.ticket_bytes = replay::kMaxTicketBytes;
  return hub;
}

class ListeningHub : public JobHub {
 public:
  ListeningHub(wire::HubOptions options, wire::Ledger& ledger, wire::TicketSource source, const Clock& clock)
      : hub_(std::move(options), ledger, std::move(source), clock) {}
  std::optional<wire::Delivery> take(std::chrono::milliseconds wait) override { return hub_.take(wait); }
  wire::Verdict decide(const wire::Ticket& ticket, wire::Verdict verdict) override {
    return hub_.decide(ticket, verdict);
  }
  void publish(std::uint64_t version, std::vector<std::byte> weights) override {
    hub_.publish(version, std::move(weights));
  }
  void announce(const std::filesystem::path& run_file) override { hub_.run_info().save(run_file); }
  void wake() override { hub_.wake(); }
  void stop_issuing() override { hub_.stop_issuing(); }
  void stop() override { hub_.stop(); }
  wire::HubStatus status() const override { return hub_.status(); }
  wire::TransportCounters counters() const override { return hub_.counters(); }

 private:
  wire::Hub hub_;
};

}  // namespace

MakeHub listening_hub(const RunFolder& folder, const LearnerOptions& options, std::uint32_t max_parts,
                      bool lock_step) {
  return [=](wire::Ledger& ledger, wire::TicketSource source, const Clock& clock) {
    wire::HubOptions hub = hub_options(folder, options, ledger.run_id());
    if (max_parts > 0) hub.dispatch.max_parts = max_parts;
    hub.dispatch.deterministic = lock_step;
    return std::make_unique<ListeningHub>(std::move(hub), ledger, std::move(source), clock);
  };
}

std::string run_id_of(const RunFolder& folder) {
  const std::string text = read_file(folder.run_id());
  return text.substr(0, text.find('\n'));
}

}
