#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/base/hash.h"
#include "core/wire/actor_work.h"
#include "core/wire/relayed_actors.h"
#include "core/wire/ticket.h"
#include "core/wire/wire_error.h"

namespace regraft::wire {

// Every message is one header frame, encoded here, and any number of payload frames (one a tensor) that this
// folder does not look into. Header: u16 magic, u8 type, u8 version of that type, then the fields in order,
// little endian; texts and lists carry a u64 length.

inline constexpr std::size_t kMaxHeaderBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxTextBytes = 512;     // of a name or a reason
inline constexpr std::size_t kMaxHeldTickets = 4096;  // in a Hello
inline constexpr std::size_t kMaxFrames = 4096;       // of a message, header included

/// A weight version and how to know it. Version 0: none published yet.
struct WeightsInfo {
  std::uint64_t version = 0;
  Hash128 hash;  // of all bytes
  std::uint64_t size_bytes = 0;

  bool operator==(const WeightsInfo&) const = default;
};

/// Actor to learner, first on every connection. `held` names the tickets of this generation that the actor
/// still has, worked on or sent and unacknowledged; its others are lost.
struct Hello {
  static constexpr std::uint8_t kType = 1, kVersion = 2;
  std::string run_id;
  std::uint64_t generation = 0;
  std::uint64_t incarnation = 0;  // raised by the supervisor at every restart of the worker
  std::string actor;              // name, unique among those that join the same hub
  std::string kind;               // of actor: random, policy, dream
  std::uint64_t pid = 0;
  std::uint32_t tickets_wanted = 1;  // how many to hold at a time
  ActorWork told{};                  // before this connection, as heartbeats have it
  std::vector<std::uint64_t> held;
  bool operator==(const Hello&) const = default;
};

/// Learner to actor: you are in. Ports are of the tcp endpoints, 0 where there is none.
struct Welcome {
  static constexpr std::uint8_t kType = 2, kVersion = 1;
  std::uint64_t generation = 0;
  std::uint32_t heartbeat_ms = 0;
  std::uint16_t weights_port = 0;
  std::uint16_t announce_port = 0;
  std::uint64_t ticket_bytes = 0;  // largest result
  WeightsInfo latest;
  bool operator==(const Welcome&) const = default;
};

enum class Refusal : std::uint8_t {
  kWrongRun = 1,
  kOldGeneration,   // say hello again with the generation given
  kOldIncarnation,  // a newer worker of this actor has joined
  kNameTaken,       // by an actor with another key
  kKeyRevoked,
  kFull,        // no more actors are taken
  kHelloFirst,  // this connection is not known: say hello
};

struct Refused {
  static constexpr std::uint8_t kType = 3, kVersion = 1;
  Refusal reason = Refusal::kHelloFirst;
  std::uint64_t generation = 0;  // the learner's
  std::string text;
  bool operator==(const Refused&) const = default;
};

/// Learner to actor: one ticket.
struct TicketGrant {
  static constexpr std::uint8_t kType = 4, kVersion = 1;
  Ticket ticket;
  bool operator==(const TicketGrant&) const = default;
};

/// Actor to learner, followed by the frames of this part. Parts of a ticket come in order, from 0, all with
/// the same weight version.
struct Result {
  static constexpr std::uint8_t kType = 5, kVersion = 1;
  std::uint64_t ticket = 0;
  std::uint64_t generation = 0;
  std::uint32_t part = 0;
  std::uint8_t last = 1;             // 0 or 1
  std::uint64_t weight_version = 0;  // acted with
  std::uint32_t steps = 0;           // in this part
  std::uint64_t payload_bytes = 0;   // sum of the frames that follow
  std::uint64_t policy_steps = 0;    // by this worker since it started
  bool operator==(const Result&) const = default;
};

/// Learner to actor: the ticket has reached its final state and that is journalled.
struct Ack {
  static constexpr std::uint8_t kType = 6, kVersion = 1;
  std::uint64_t ticket = 0;
  Verdict verdict = Verdict::kAdmitted;
  WeightsInfo latest;
  bool operator==(const Ack&) const = default;
};

/// Both ways. The actor fills all but `latest`, the learner that. A relay speaks for its actors.
struct Heartbeat {
  static constexpr std::uint8_t kType = 7, kVersion = 3;
  std::uint64_t policy_steps = 0;    // since the worker started
  std::uint64_t process_cpu_ns = 0;  // of the worker
  std::uint64_t wire_cpu_ns = 0;     // of its transport threads
  std::uint32_t actors = 1;          // that work behind this connection
  std::uint32_t tickets_wanted = 1;  // how many to hold at a time, from now on
  RelayTraffic relayed{};
  WeightsInfo latest;
  bool operator==(const Heartbeat&) const = default;
};

/// Both ways: the sender leaves for good. From the learner: the run has ended.
struct Bye {
  static constexpr std::uint8_t kType = 8, kVersion = 1;
  std::string reason;
  bool operator==(const Bye&) const = default;
};

/// Published to all at every new version.
struct WeightsAnnounce {
  static constexpr std::uint8_t kType = 9, kVersion = 1;
  WeightsInfo info;
  bool operator==(const WeightsAnnounce&) const = default;
};

struct WeightsRequest {
  static constexpr std::uint8_t kType = 10, kVersion = 1;
  std::uint64_t version = 0;
  std::uint32_t chunk = 0;
  bool operator==(const WeightsRequest&) const = default;
};

/// Followed by one frame: bytes [chunk * chunk_bytes, ...) of the version; the last chunk may be shorter.
struct WeightsChunk {
  static constexpr std::uint8_t kType = 11, kVersion = 1;
  WeightsInfo info;
  std::uint32_t chunk = 0;
  std::uint32_t chunk_bytes = 0;
  bool operator==(const WeightsChunk&) const = default;
};

/// The version asked for is not kept (any more).
struct Gone {
  static constexpr std::uint8_t kType = 12, kVersion = 1;
  std::uint64_t version = 0;
  WeightsInfo latest;
  bool operator==(const Gone&) const = default;
};

using Message = std::variant<Hello, Welcome, Refused, TicketGrant, Result, Ack, Heartbeat, Bye,
                             WeightsAnnounce, WeightsRequest, WeightsChunk, Gone>;

/// Throws WireError(kMisuse) where a text or list exceeds its limit.
std::vector<std::byte> encode(const Message& message);

/// Pure; allocates no more than the header's own size times eight; encode(decode(b)) == b. Throws
/// WireError(kMalformed) on anything else than exactly one message.
Message decode(std::span<const std::byte> header);

std::string_view name_of(Refusal refusal);

}
