#include "core/wire/weights_store.h"

#include <gmock/gmock.h>

#include "core/base/rng.h"

namespace regraft::wire {
namespace {

std::vector<std::byte> noise(std::size_t size, std::uint64_t seed) {
  Rng rng(seed, "weights");
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.next());
  return bytes;
}

WireFault fault_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const WireError& error) {
    return error.fault();
  }
  ADD_FAILURE() << "no error";
  return WireFault::kMisuse;
}

TEST(WeightsStore, KeepsTheLastTwoVersions) {
  WeightsStore store;
  EXPECT_EQ(store.latest().version, 0u);
  EXPECT_FALSE(store.find(0));
  for (std::uint64_t version : {1, 2, 5}) store.publish(version, noise(10, version));
  EXPECT_FALSE(store.find(1));
  EXPECT_TRUE(store.find(2));
  EXPECT_EQ(store.find(0)->info, store.latest());
  EXPECT_EQ(*store.find(5)->bytes, noise(10, 5));
  EXPECT_EQ(fault_of([&] { store.publish(5, {}); }), WireFault::kMisuse);
}

TEST(WeightsStore, KeepsAPinnedVersionUntilItsLastPinIsGone) {
  WeightsStore store;
  store.pin(1);
  store.pin(1);
  for (std::uint64_t version = 1; version <= 5; ++version) store.publish(version, {});
  EXPECT_TRUE(store.find(1));
  EXPECT_FALSE(store.find(2));
  store.unpin(1);
  EXPECT_TRUE(store.find(1));
  store.unpin(1);
  EXPECT_FALSE(store.find(1));
  EXPECT_EQ(fault_of([&] { store.unpin(1); }), WireFault::kMisuse);
}

class Assembled : public testing::TestWithParam<std::size_t> {};

TEST_P(Assembled, FromChunksInAnyOrder) {
  constexpr std::uint32_t kChunk = 100;
  const auto bytes = noise(GetParam(), 1);
  const WeightsInfo info{3, hash_bytes(bytes), bytes.size()};
  WeightsAssembler assembler(info, kChunk, 1000);
  EXPECT_EQ(assembler.chunks(), chunk_count(bytes.size(), kChunk));
  for (std::uint32_t i = assembler.chunks(); i-- > 0;) {
    EXPECT_FALSE(assembler.complete());
    const std::size_t begin = std::size_t{i} * kChunk;
    const auto chunk = std::span(bytes).subspan(begin, std::min<std::size_t>(kChunk, bytes.size() - begin));
    assembler.add({info, i, kChunk}, chunk);
    assembler.add({info, i, kChunk}, chunk);
  }
  ASSERT_TRUE(assembler.complete());
  EXPECT_EQ(assembler.finish(), bytes);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Assembled, testing::Values(0, 1, 99, 100, 101, 200, 950));

TEST(WeightsAssembler, FindsEveryCorruptedByteAndEveryForeignChunk) {
  auto bytes = noise(150, 2);
  const WeightsInfo info{3, hash_bytes(bytes), bytes.size()};
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    bytes[at] ^= std::byte{1};
    WeightsAssembler assembler(info, 100, 1000);
    assembler.add({info, 0, 100}, std::span(bytes).first(100));
    assembler.add({info, 1, 100}, std::span(bytes).subspan(100));
    EXPECT_EQ(fault_of([&] { assembler.finish(); }), WireFault::kCorrupt);
    bytes[at] ^= std::byte{1};
  }
  WeightsAssembler assembler(info, 100, 1000);
  WeightsInfo other = info;
  other.version = 4;
  const auto first = std::span(bytes).first(100);
  EXPECT_EQ(fault_of([&] { assembler.add({other, 0, 100}, first); }), WireFault::kCorrupt);
  EXPECT_EQ(fault_of([&] { assembler.add({info, 2, 100}, first); }), WireFault::kCorrupt);
  EXPECT_EQ(fault_of([&] { assembler.add({info, 0, 50}, first); }), WireFault::kCorrupt);
  EXPECT_EQ(fault_of([&] { assembler.add({info, 1, 100}, first); }), WireFault::kCorrupt);
  EXPECT_EQ(fault_of([&] { assembler.finish(); }), WireFault::kCorrupt);
}

TEST(WeightsAssembler, RefusesASizeThatNobodyShouldAllocate) {
  EXPECT_EQ(fault_of([&] { WeightsAssembler({1, {}, ~0ull}, 100, 1000); }), WireFault::kCorrupt);
  EXPECT_EQ(fault_of([&] { WeightsAssembler({1, {}, 10}, 0, 1000); }), WireFault::kCorrupt);
}

}  // namespace
}
