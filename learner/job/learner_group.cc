#include "learner/job/learner_group.h"

#include "core/wire/keys.h"
#include "learner/job/job_hub.h"

namespace regraft::learner {
namespace {

constexpr std::uint64_t kBehindHub = 3;  // its port, where wire.port is not free

}  // namespace

std::shared_ptr<wire::Group> lead_learners(const RunFolder& folder, const LearnerOptions& options) {
  if (options.learners == 1) return nullptr;
  wire::LeadOptions lead;
  lead.size = options.learners;
  lead.run_id = run_id_of(folder);
  const std::string port = options.port == 0 ? "*" : std::to_string(options.port + kBehindHub);
  lead.bind = {"tcp://" + options.address + ":" + port,
               wire::default_ipc_endpoint(lead.run_id) + ".learners"};
  lead.plain = options.plain;
  if (!options.plain) lead.server_keys = wire::load_or_make_key_pair(folder.server_key());
  lead.authorised = folder.authorised();
  lead.file = folder.learners_file();
  return wire::lead_group(lead);
}

std::shared_ptr<wire::Group> join_learners(const RunFolder& folder, const LearnerOptions& options,
                                           std::uint32_t rank, const std::filesystem::path& key,
                                           const std::function<void()>& check_run) {
  wire::PeerOptions peer;
  peer.rank = rank;
  peer.size = options.learners;
  peer.keys = wire::load_key_pair(key);
  peer.locate = [=] {
    check_run();
    return wire::RunInfo::load(folder.learners_file());
  };
  return wire::join_group(peer);
}

}  // namespace regraft::learner
