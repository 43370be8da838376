#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "core/base/file.h"
#include "core/wire/wire_error.h"
#include "learner/job/update_sharing.h"

namespace regraft::test {

/// Calls learn(rank, join) once for each of so many learners of one job, in threads of their own but for the
/// first one's. One that learns alone has nothing to join.
inline void run_learners(std::uint32_t learners,
                         const std::function<void(std::uint32_t, const learner::JoinLearners&)>& learn) {
  if (learners == 1) return learn(0, nullptr);
  const TempDir folder("rl");
  const auto file = folder.path() / "learners.json";
  std::atomic<bool> ended = false;
  const auto guarded = [&](std::uint32_t rank, const learner::JoinLearners& join) {
    try {
      learn(rank, join);
    } catch (const Error& error) {
      ADD_FAILURE() << "learner " << rank << ": " << error.what();
    }
  };
  std::vector<std::jthread> peers;
  for (std::uint32_t rank = 1; rank < learners; ++rank) {
    peers.emplace_back([&, rank] {
      wire::PeerOptions options;
      options.rank = rank;
      options.size = learners;
      options.patience = std::chrono::minutes(1);
      options.locate = [&] {
        if (ended) throw wire::WireError(wire::WireFault::kClosed, "it has ended", "", "");
        return wire::RunInfo::load(file);
      };
      guarded(rank, [&] { return wire::join_group(options); });
    });
  }
  wire::LeaderOptions options;
  options.size = learners;
  options.bind = {"ipc://" + (folder.path() / "group.ipc").string()};
  options.plain = true;
  options.run_id = "run";
  options.file = file;
  options.patience = std::chrono::minutes(1);
  guarded(0, [&] { return wire::lead_group(options); });
  ended = true;
}

}
