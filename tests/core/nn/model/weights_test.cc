#include "core/nn/model/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/base/rng.h"
#include "core/nn/model/nn_error.h"

namespace regraft::nn {
namespace {

const NetworkConfig kConfig{.width = 8, .steps = 1, .node_kinds = 3};

TEST(NetworkConfig, PresetsAreThoseOfTheDesignAndOthersAreRefused) {
  EXPECT_EQ(preset("cpu", 90), (NetworkConfig{32, 3, 90}));
  EXPECT_EQ(preset("gpu", 90), (NetworkConfig{64, 5, 90}));
  EXPECT_THROW(preset("tpu", 90), UsageError);
  EXPECT_THROW(check(NetworkConfig{.width = 12}), NnError);
  EXPECT_THROW(check(NetworkConfig{.steps = 0}), NnError);
}

TEST(Weights, LayoutIsContiguousAndNamed) {
  std::size_t offset = 0;
  for (const auto& spec : weight_layout(kConfig)) {
    EXPECT_EQ(spec.offset, offset) << spec.name;
    offset += spec.count;
  }
  EXPECT_EQ(initial_weights(kConfig, 1).values.size(), offset);
}

TEST(Weights, AreAFunctionOfTheSeed) {
  EXPECT_EQ(initial_weights(kConfig, 1), initial_weights(kConfig, 1));
  EXPECT_NE(initial_weights(kConfig, 1), initial_weights(kConfig, 2));
  EXPECT_NE(initial_weights(kConfig, 1).hash(), initial_weights(kConfig, 2).hash());
}

TEST(Weights, RoundTrip) {
  const Weights weights = initial_weights(kConfig, 3);
  EXPECT_EQ(decode_weights(encode_weights(weights)), weights);
}

TEST(Weights, EveryTruncationAndEveryChangedByteIsRefused) {
  auto bytes = encode_weights(initial_weights(kConfig, 3));
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 16) {
    EXPECT_THROW(decode_weights(std::span(bytes).first(size)), NnError) << size;
  }
  Rng rng(7, "damage");
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t at = rng.below(bytes.size());
    const std::byte before = bytes[at];
    bytes[at] ^= static_cast<std::byte>(1 + rng.below(255));
    EXPECT_THROW(decode_weights(bytes), NnError) << "seed 7, byte " << at;
    bytes[at] = before;
  }
}

TEST(Weights, ForeignLayoutAndNotFiniteValuesAreRefused) {
  Weights weights = initial_weights(kConfig, 3);
  EXPECT_NO_THROW(check(weights, kConfig));
  EXPECT_THROW(check(weights, NetworkConfig{.width = 8, .steps = 2, .node_kinds = 3}), NnError);
  EXPECT_THROW(check(weights, NetworkConfig{.width = 16, .steps = 1, .node_kinds = 3}), NnError);
  weights.values[10] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(check(weights, kConfig), NnError);
}

}  // namespace
}
