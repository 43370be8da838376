#include "core/wire/message.h"

#include <gmock/gmock.h>

#include <random>

#include "core/base/rng.h"

namespace regraft::wire {
namespace {

std::vector<Message> one_of_each() {
  const WeightsInfo info{7, {1, 2}, 12345};
  Ticket ticket;
  ticket.id = 9;
  ticket.generation = 2;
  ticket.model = 3;
  ticket.seed = ~0ull;
  ticket.weight_version = 7;
  ticket.segment_length = 32;
  ticket.sequence = 8;
  return {Hello{"run", 2, 3, "actor-1", "policy", 4711, 2, {8, 9, 10}, {5, 6, 7}},
          Welcome{2, 1000, 5001, 5002, 1 << 22, info},
          Refused{Refusal::kNameTaken, 2, "taken"},
          TicketGrant{ticket},
          Result{9, 2, 1, 1, 7, 32, 100, 1000},
          Ack{9, Verdict::kStale, info},
          Heartbeat{1, 2, 3, 4, 5, {6, 7, 8}, info},
          Bye{"done"},
          WeightsAnnounce{info},
          WeightsRequest{7, 3},
          WeightsChunk{info, 3, 1 << 20},
          Gone{6, info}};
}

// Decoding either gives back exactly these bytes or throws the one error.
bool accepts(std::span<const std::byte> bytes) {
  try {
    EXPECT_THAT(encode(decode(bytes)), testing::ElementsAreArray(bytes.begin(), bytes.end()));
    return true;
  } catch (const WireError& error) {
    EXPECT_EQ(error.fault(), WireFault::kMalformed);
    return false;
  }
}

TEST(Message, EveryTypeSurvivesTheRoundTrip) {
  const auto all = one_of_each();
  ASSERT_EQ(all.size(), std::variant_size_v<Message>);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i].index(), i);
    EXPECT_EQ(decode(encode(all[i])), all[i]) << i;
  }
}

TEST(Message, EveryTruncationAndEveryExtraByteIsRefused) {
  for (const Message& message : one_of_each()) {
    auto bytes = encode(message);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_FALSE(accepts(std::span(bytes).first(length)))
          << "message " << message.index() << " cut at " << length;
    }
    bytes.push_back(std::byte{0});
    EXPECT_FALSE(accepts(bytes)) << "message " << message.index();
  }
}

TEST(Message, EveryChangedByteIsRefusedOrMeansAnotherMessage) {
  for (const Message& message : one_of_each()) {
    const auto original = encode(message);
    for (std::size_t at = 0; at < original.size(); ++at) {
      for (int value = 0; value < 256; ++value) {
        auto bytes = original;
        bytes[at] = static_cast<std::byte>(value);
        if (accepts(bytes) && bytes != original) {
          EXPECT_NE(decode(bytes), message) << "message " << message.index() << " byte " << at;
        }
      }
    }
  }
}

TEST(Message, RandomBytesNeverDoMoreThanThrow) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed, "message");
  const auto all = one_of_each();
  for (int round = 0; round < 20000; ++round) {
    auto bytes = encode(all[rng.below(all.size())]);
    const std::uint64_t changes = 1 + rng.below(8);
    for (std::uint64_t i = 0; i < changes; ++i)
      bytes[rng.below(bytes.size())] = static_cast<std::byte>(rng.below(256));
    if (rng.below(3) == 0) bytes.resize(rng.below(2 * bytes.size()), std::byte{0xFF});
    accepts(bytes);
  }
}

TEST(Message, ALengthBeyondTheEndIsRefusedBeforeMemoryIsTaken) {
  auto bytes = encode(Bye{"x"});
  // The text's u64 length follows magic, type and version.
  for (int i = 4; i < 12; ++i) bytes[static_cast<std::size_t>(i)] = std::byte{0x7F};
  EXPECT_FALSE(accepts(bytes));
}

TEST(Message, LimitsHoldForSendersToo) {
  EXPECT_THROW(encode(Bye{std::string(kMaxTextBytes + 1, 'x')}), WireError);
  Hello hello;
  hello.held.resize(kMaxHeldTickets + 1);
  EXPECT_THROW(encode(hello), WireError);
  hello.held.resize(kMaxHeldTickets);
  EXPECT_EQ(decode(encode(hello)), Message(hello));
}

TEST(Message, AnotherVersionOfATypeIsRefusedWithARemedy) {
  auto bytes = encode(Bye{"x"});
  bytes[3] = std::byte{2};
  try {
    decode(bytes);
    FAIL() << "accepted";
  } catch (const WireError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("same version"));
  }
}

}  // namespace
}
