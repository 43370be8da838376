#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/wire/keys.h"
#include "core/wire/run_info.h"

namespace regraft::wire {

/// Processes that compute one thing together: the leader, rank 0, and its peers. All call the same functions
/// in the same order. The leader adds up and tells all, so a sum has the same bits everywhere, whatever the
/// timing. One thread.
///
/// Errors end the group: WireError kRefused (a member has gone, or its connection), kTimeout (one says
/// nothing), kClosed (the run has ended, or this member was asked to stop), kMisuse (a member computes
/// something else).
class Group {
 public:
  virtual ~Group() = default;
  virtual std::uint32_t rank() const = 0;
  virtual std::uint32_t size() const = 0;
  /// Each value becomes the sum of those of all members, added in the order of their ranks. As many
  /// everywhere.
  virtual void add_up(std::span<float> values) = 0;
  /// The leader's bytes; those that a peer gives are ignored.
  virtual std::vector<std::byte> share(std::vector<std::byte> bytes) = 0;
};

struct LeaderOptions {
  std::uint32_t size = 2;              // the leader and its peers
  std::vector<std::string> bind;       // as HubOptions
  KeyPair server_keys;                 // empty with plain
  std::filesystem::path authorised;    // folder of public keys
  std::vector<std::string> peer_keys;  // public keys by rank, from 1; nobody else joins. Empty with plain
  bool plain = false;                  // no encryption: loopback and ipc only
  std::string run_id;
  std::string config;                           // what all must have alike
  std::filesystem::path file;                   // where peers find it: a RunInfo, written here
  std::function<bool()> stopped;                // asked to stop: there is little patience from then on
  std::chrono::milliseconds patience{600'000};  // with a peer that has not joined, or does not answer
};

struct PeerOptions {
  std::uint32_t rank = 1;
  std::uint32_t size = 2;
  KeyPair keys;        // ignored where the run is plain
  std::string config;  // as the leader's
  /// Reads the leader's file. Throws WireError(kClosed) where the run has ended.
  std::function<RunInfo()> locate;
  std::function<bool()> stopped;  // as the leader's
  /// With a leader whose file is there, until it has joined, and with a sum; share() may take ever.
  std::chrono::milliseconds patience{600'000};
};

/// Waits until all peers have joined. Throws WireError, kAddress and kKey as Hub does.
std::unique_ptr<Group> lead_group(const LeaderOptions& options);
std::unique_ptr<Group> join_group(const PeerOptions& options);

}
