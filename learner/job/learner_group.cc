#include "learner/job/learner_group.h"

#include <algorithm>
#include <vector>

#include "core/base/file.h"
#include "core/wire/keys.h"
#include "core/wire/wire_error.h"
#include "learner/job/job_hub.h"

namespace regraft::learner {
namespace {

constexpr std::uint64_t kBehindHub = 3;  // its port, where wire.port is not free

/// The public key of each peer, by rank. Throws WireError where one is missing.
std::vector<std::string> peer_keys(const RunFolder& folder, std::uint32_t learners) {
  const std::vector<wire::AuthorisedKeys::Entry> all = wire::AuthorisedKeys(folder.authorised()).list();
  std::vector<std::string> keys;
  for (std::uint32_t rank = 1; rank < learners; ++rank) {
    const auto found = std::ranges::find(all, worker_key_name(rank), &wire::AuthorisedKeys::Entry::name);
    if (found == all.end())
      throw wire::WireError(wire::WireFault::kKey, "there is no key of " + worker_key_name(rank),
                            folder.authorised().string(), "start learners by `regraft train`");
    keys.push_back(found->public_key);
  }
  return keys;
}

}  // namespace

std::string worker_key_name(std::int64_t rank) {
  return "actor-" + std::to_string(rank);
}

std::shared_ptr<wire::Group> lead_learners(const RunFolder& folder, const LearnerOptions& options,
                                           const std::function<bool()>& stopped) {
  wire::LeaderOptions leader;
  leader.size = options.learners;
  leader.run_id = run_id_of(folder);
  const std::string port = options.port == 0 ? "*" : std::to_string(options.port + kBehindHub);
  leader.bind = {"tcp://" + options.address + ":" + port,
                 wire::default_ipc_endpoint(leader.run_id) + ".learners"};
  leader.plain = options.plain;
  if (!options.plain) {
    leader.server_keys = wire::load_or_make_key_pair(folder.server_key());
    leader.authorised = folder.authorised();
    leader.peer_keys = peer_keys(folder, options.learners);
  }
  leader.config = read_file(folder.config());
  leader.file = folder.learners_file();
  leader.stopped = stopped;
  return wire::lead_group(leader);
}

std::shared_ptr<wire::Group> join_learners(const RunFolder& folder, const LearnerOptions& options,
                                           std::uint32_t rank, const std::filesystem::path& key,
                                           const std::function<void()>& check_run,
                                           const std::function<bool()>& stopped) {
  wire::PeerOptions peer;
  peer.rank = rank;
  peer.size = options.learners;
  peer.keys = wire::load_key_pair(key);
  peer.config = read_file(folder.config());
  peer.stopped = stopped;
  peer.locate = [=] {
    check_run();
    return wire::RunInfo::load(folder.learners_file());
  };
  return wire::join_group(peer);
}

}
