#include "replay/rollout/rollout.h"

#include <cmath>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/hash.h"

namespace regraft::replay {
namespace {

constexpr std::uint64_t kMagic = 0x4C4F525446475200;  // "\0RGFTROL"
constexpr std::uint32_t kFormat = 2;
constexpr std::uint8_t kRolloutVersion = 2;

void require(bool holds, const char* problem) {
  if (!holds) throw ReplayError(problem, "rollout", "collect it again");
}

void put_text(ByteWriter& out, const std::string& text) {
  out.varint(text.size());
  out.raw(std::as_bytes(std::span(text.data(), text.size())));
}

std::string take_text(ByteReader& in) {
  const auto raw = in.raw(in.count());
  return {reinterpret_cast<const char*>(raw.data()), raw.size()};
}

}  // namespace

Bytes encode_rollout(const Rollout& rollout) {
  Bytes bytes;
  ByteWriter out(bytes);
  out.value(kRolloutVersion);
  out.varint(rollout.model);
  out.varint(rollout.seed);
  out.varint(rollout.sequence);
  out.value(static_cast<std::uint8_t>(rollout.terminated));
  out.value(rollout.final_cost_ratio);
  out.value(rollout.best_cost_ratio);
  out.varint(rollout.costed);
  out.varint(rollout.steps.size());
  for (const RolloutStep& step : rollout.steps) {
    out.varint(step.rule);
    out.varint(step.location);
    out.value(step.reward);
  }
  return bytes;
}

Rollout decode_rollout(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  require(in.value<std::uint8_t>() == kRolloutVersion, "is of another version");
  Rollout rollout;
  const std::uint64_t model = in.varint();
  require(model <= UINT32_MAX, "its model number is none");
  rollout.model = static_cast<std::uint32_t>(model);
  rollout.seed = in.varint();
  rollout.sequence = in.varint();
  const auto terminated = in.value<std::uint8_t>();
  require(terminated <= 1, "its end is neither of both");
  rollout.terminated = terminated == 1;
  rollout.final_cost_ratio = in.value<float>();
  rollout.best_cost_ratio = in.value<float>();
  const auto ratio = [](float held) { return std::isfinite(held) && held > 0; };
  require(ratio(rollout.final_cost_ratio) && ratio(rollout.best_cost_ratio), "a cost ratio is none");
  rollout.costed = in.varint();
  rollout.steps.resize(in.count(2 + sizeof(float)));
  require(!rollout.steps.empty() && rollout.steps.size() <= kMaxRolloutSteps, "its number of steps is none");
  for (RolloutStep& step : rollout.steps) {
    const std::uint64_t rule = in.varint(), location = in.varint();
    require(rule <= UINT16_MAX && location <= UINT16_MAX, "an action is out of range");
    step = {static_cast<std::uint16_t>(rule), static_cast<std::uint16_t>(location), in.value<float>()};
    require(std::isfinite(step.reward), "a reward is not finite");
  }
  in.finish();
  return rollout;
}

void save_rollouts(const RolloutFile& file, const std::filesystem::path& path) {
  Bytes bytes;
  ByteWriter out(bytes);
  out.value(kMagic);
  out.value(kFormat);
  put_text(out, file.rule_set_hash);
  out.varint(file.models.size());
  for (const std::string& model : file.models) put_text(out, model);
  put_text(out, file.record);
  out.varint(file.rollouts.size());
  for (const Rollout& rollout : file.rollouts) {
    const Bytes encoded = encode_rollout(rollout);
    out.varint(encoded.size());
    out.raw(encoded);
  }
  out.value(hash_bytes(bytes));
  write_file_atomic(path, std::span<const std::byte>(bytes));
}

RolloutFile load_rollouts(const std::filesystem::path& path) {
  const MappedFile mapped(path);
  const auto bytes = mapped.bytes();
  const auto fail = [&](const char* problem) {
    throw ReplayError(problem, path.string(), "give a file that `regraft collect` wrote");
  };
  if (bytes.size() < sizeof(kMagic) + sizeof(kFormat) + sizeof(Hash128)) fail("is no file of rollouts");
  const auto content = bytes.first(bytes.size() - sizeof(Hash128));
  ByteReader in(content);
  if (in.value<std::uint64_t>() != kMagic) fail("is no file of rollouts");
  if (in.value<std::uint32_t>() != kFormat) fail("is of a format that this program does not know");
  Hash128 stored;
  std::memcpy(&stored, bytes.data() + content.size(), sizeof stored);
  if (hash_bytes(content) != stored) fail("is truncated or damaged: its hash does not match");
  RolloutFile file;
  file.rule_set_hash = take_text(in);
  file.models.resize(in.count());
  for (std::string& model : file.models) model = take_text(in);
  file.record = take_text(in);
  file.rollouts.resize(in.count());
  for (Rollout& rollout : file.rollouts) {
    rollout = decode_rollout(in.raw(in.count()));
    if (rollout.model >= file.models.size()) fail("a rollout is of no model of its list");
  }
  in.finish();
  return file;
}

}
