#include "core/wire/message.h"

#include <array>
#include <utility>

#include "core/wire/bounded_archive.h"

namespace regraft::wire {

// cereal finds these by argument-dependent lookup, so they cannot live in an unnamed namespace.
#define REGRAFT_FIELDS(TYPE, ...)                    \
  template <class Archive>                           \
  static void serialize(Archive& archive, TYPE& m) { \
    archive(__VA_ARGS__);                            \
  }

REGRAFT_FIELDS(WeightsInfo, m.version, m.hash.low, m.hash.high, m.size_bytes)
REGRAFT_FIELDS(Ticket, m.id, m.generation, m.model, m.seed, m.weight_version, m.segment_length, m.sequence)
REGRAFT_FIELDS(ActorWork, m.policy_steps, m.cpu_ns, m.wire_cpu_ns)
REGRAFT_FIELDS(RelayTraffic, m.connections, m.bytes_in, m.bytes_out)
REGRAFT_FIELDS(Hello, m.run_id, m.generation, m.incarnation, m.actor, m.kind, m.pid, m.tickets_wanted, m.told,
               m.held)
REGRAFT_FIELDS(Welcome, m.generation, m.heartbeat_ms, m.weights_port, m.announce_port, m.ticket_bytes,
               m.latest)
REGRAFT_FIELDS(Refused, m.reason, m.generation, m.text)
REGRAFT_FIELDS(TicketGrant, m.ticket)
REGRAFT_FIELDS(Result, m.ticket, m.generation, m.part, m.last, m.weight_version, m.steps, m.payload_bytes,
               m.policy_steps)
REGRAFT_FIELDS(Ack, m.ticket, m.verdict, m.latest)
REGRAFT_FIELDS(Heartbeat, m.policy_steps, m.process_cpu_ns, m.wire_cpu_ns, m.actors, m.tickets_wanted,
               m.relayed, m.latest)
REGRAFT_FIELDS(Bye, m.reason)
REGRAFT_FIELDS(WeightsAnnounce, m.info)
REGRAFT_FIELDS(WeightsRequest, m.version, m.chunk)
REGRAFT_FIELDS(WeightsChunk, m.info, m.chunk, m.chunk_bytes)
REGRAFT_FIELDS(Gone, m.version, m.latest)
#undef REGRAFT_FIELDS

namespace {

constexpr std::uint16_t kMagic = 0x4752;  // "RG"

[[noreturn]] void malformed(const std::string& what) {
  throw WireError(WireFault::kMalformed, what, "message", "are both ends of the same version of regraft?");
}

// What the types do not say by themselves; the same for both directions.
struct Limits {
  WireFault fault;

  void fail(const std::string& what) const { throw WireError(fault, what, "message", ""); }
  void text(const std::string& value) const {
    if (value.size() > kMaxTextBytes)
      fail("a text of " + std::to_string(value.size()) + " bytes is too long");
  }
  void operator()(const Hello& m) const {
    text(m.run_id);
    text(m.actor);
    text(m.kind);
    if (m.held.size() > kMaxHeldTickets) fail("a hello holds too many tickets");
  }
  void operator()(const Refused& m) const {
    text(m.text);
    if (m.reason < Refusal::kWrongRun || m.reason > Refusal::kHelloFirst) fail("unknown reason of refusal");
  }
  void operator()(const Ack& m) const {
    if (m.verdict < Verdict::kAdmitted || m.verdict > Verdict::kLate) fail("unknown verdict");
  }
  void operator()(const Result& m) const {
    if (m.last > 1) fail("the last-part mark is neither 0 nor 1");
  }
  void operator()(const Bye& m) const { text(m.reason); }
  template <class Other>
  void operator()(const Other&) const {}
};

template <class M>
Message decode_as(std::uint8_t version, BoundedInputArchive& archive) {
  if (version != M::kVersion) malformed("version " + std::to_string(version) + " of its type is not known");
  M message;
  archive(message);
  archive.expect_end();
  Limits{WireFault::kMalformed}(message);
  return message;
}

template <std::size_t... I>
Message decode_any(std::uint8_t type, std::uint8_t version, BoundedInputArchive& archive,
                   std::index_sequence<I...>) {
  using Decode = Message (*)(std::uint8_t, BoundedInputArchive&);
  static_assert(((std::variant_alternative_t<I, Message>::kType == I + 1) && ...));
  constexpr std::array<Decode, sizeof...(I)> decoders{&decode_as<std::variant_alternative_t<I, Message>>...};
  if (type < 1 || type > decoders.size()) malformed("type " + std::to_string(type) + " is not known");
  return decoders[type - 1u](version, archive);
}

}  // namespace

std::vector<std::byte> encode(const Message& message) {
  std::visit(Limits{WireFault::kMisuse}, message);
  std::vector<std::byte> bytes;
  bytes.reserve(128);
  BytesOutputArchive archive(bytes);
  std::visit([&](const auto& m) { archive(kMagic, m.kType, m.kVersion, m); }, message);
  return bytes;
}

Message decode(std::span<const std::byte> header) {
  if (header.size() > kMaxHeaderBytes) malformed("a header of " + std::to_string(header.size()) + " bytes");
  BoundedInputArchive archive(header);
  std::uint16_t magic = 0;
  std::uint8_t type = 0, version = 0;
  archive(magic, type, version);
  if (magic != kMagic) malformed("it does not begin with the protocol's mark");
  return decode_any(type, version, archive, std::make_index_sequence<std::variant_size_v<Message>>{});
}

std::string_view name_of(Verdict verdict) {
  constexpr std::array<std::string_view, 6> names{"admitted", "stale", "rejected", "dropped", "lost", "late"};
  return names.at(static_cast<std::size_t>(verdict) - 1);
}

std::string_view name_of(Refusal refusal) {
  constexpr std::array<std::string_view, 7> names{"wrong run id", "old generation", "old incarnation",
                                                  "name taken",   "key revoked",    "full",
                                                  "hello first"};
  return names.at(static_cast<std::size_t>(refusal) - 1);
}

}
