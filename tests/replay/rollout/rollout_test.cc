#include "replay/rollout/rollout.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/rng.h"
#include "replay/rollout/replay_error.h"

namespace regraft::replay {
namespace {

constexpr std::uint64_t kSeed = 711;

Rollout random_rollout(Rng& rng, std::uint64_t sequence) {
  Rollout rollout;
  rollout.model = static_cast<std::uint32_t>(rng.below(3));
  rollout.seed = rng.next();
  rollout.sequence = sequence;
  for (std::uint64_t i = 1 + rng.below(30); i > 0; --i)
    rollout.steps.push_back({static_cast<std::uint16_t>(rng.below(300)),
                             static_cast<std::uint16_t>(rng.below(200)),
                             static_cast<float>(rng.uniform(-1, 1))});
  rollout.terminated = rng.below(2) == 0;
  rollout.final_cost_ratio = static_cast<float>(rng.uniform(0.5, 1.5));
  rollout.best_cost_ratio = static_cast<float>(rng.uniform(0.5, 1));
  rollout.costed = rng.below(1000);
  return rollout;
}

TEST(Rollout, SurvivesTheRoundTripAndIsSmall) {
  SCOPED_TRACE(kSeed);
  Rng rng(kSeed, "rollout test");
  for (int i = 0; i < 200; ++i) {
    const Rollout rollout = random_rollout(rng, static_cast<std::uint64_t>(i));
    const Bytes bytes = encode_rollout(rollout);
    EXPECT_EQ(decode_rollout(bytes), rollout);
    EXPECT_LE(bytes.size(), 32 + 8 * rollout.steps.size());
  }
}

TEST(Rollout, EveryTruncationEveryExtraByteAndEveryNonNumberIsRefused) {
  Rng rng(kSeed, "rollout damage");
  Rollout rollout = random_rollout(rng, 5);
  Bytes bytes = encode_rollout(rollout);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(decode_rollout(std::span(bytes).first(size)), ReplayError) << size;
  bytes.push_back(std::byte{0});
  EXPECT_THROW(decode_rollout(bytes), ReplayError);
  for (float* figure : {&rollout.steps.front().reward, &rollout.final_cost_ratio, &rollout.best_cost_ratio}) {
    const float before = *figure;
    *figure = std::numeric_limits<float>::quiet_NaN();
    EXPECT_THROW(decode_rollout(encode_rollout(rollout)), ReplayError);
    *figure = before;
  }
  rollout.steps.clear();
  EXPECT_THROW(decode_rollout(encode_rollout(rollout)), ReplayError);
}

TEST(Rollout, AFileOfThemComesBackAndDamageIsRefused) {
  const TempDir folder;
  Rng rng(kSeed, "rollout file");
  RolloutFile file{"hash", {"a.onnx", "b.onnx", "c.onnx"}, R"({"noop":0.2})", {}};
  for (std::uint64_t i = 0; i < 20; ++i) file.rollouts.push_back(random_rollout(rng, i));
  const auto path = folder.path() / "some.rollouts";
  save_rollouts(file, path);
  EXPECT_EQ(load_rollouts(path), file);
  std::string text = read_file(path);
  text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 1);
  write_file_atomic(path, text);
  EXPECT_THROW(load_rollouts(path), ReplayError);
  write_file_atomic(path, std::string_view(text).substr(0, 40));
  EXPECT_THROW(load_rollouts(path), ReplayError);
}

}  // namespace
}
