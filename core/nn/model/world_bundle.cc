#include "core/nn/model/world_bundle.h"

#include <nlohmann/json.hpp>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/json_integer.h"
#include "core/nn/model/byte_reader.h"

namespace regraft::nn {
namespace {

using internal::ByteReader;
using nlohmann::json;

constexpr std::uint64_t kBundleMagic = 0x444C525754464752;                        // "RGFTWRLD"
constexpr std::uint32_t kBundleFormat = 3, kLinearRewards = 2, kWithoutWork = 1;  // older ones

json manifest(const WorldModel& world) {
  const NetworkConfig& encoder = world.config.encoder;
  const DynamicsConfig& dynamics = world.config.dynamics;
  json starts = json::array();
  for (const WorldStart& start : world.starts)
    starts.push_back({{"model", start.model}, {"counts", start.counts}});
  return {
      {"encoder", {{"width", encoder.width}, {"steps", encoder.steps}, {"node_kinds", encoder.node_kinds}}},
      {"dynamics",
       {{"latent", dynamics.latent},
        {"action", dynamics.action},
        {"hidden", dynamics.hidden},
        {"mixtures", dynamics.mixtures},
        {"xfers", dynamics.rules},
        {"count_bins", dynamics.count_bins},
        {"sigma_floor", dynamics.sigma_floor}}},
      {"locations", world.config.locations},
      {"reward_hidden", world.config.reward_hidden},
      {"observation_schema", world.observation_schema},
      {"horizon", world.horizon},
      {"location_limit", world.location_limit},
      {env::kAllSitesField, world.action_mode == env::ActionMode::all_sites},
      {"reward_kind", world.reward_kind},
      {"op_kinds", world.op_kinds},
      {"rule_set_hash", world.rule_set_hash},
      {"rule_count", world.rule_count},
      {"xfers", world.rules},
      {"model_names", world.model_names},
      {"starts", starts},
      {"training_record", json::parse(world.training_record)},
      {"version", world.version().hex()}};
}

WorldModelConfig read_config(const json& data) {
  WorldModelConfig config;
  const json& encoder = data.at("encoder");
  config.encoder = {.width = json_integer<std::uint32_t>(encoder.at("width")),
                    .steps = json_integer<std::uint32_t>(encoder.at("steps")),
                    .node_kinds = json_integer<std::uint32_t>(encoder.at("node_kinds"))};
  const json& dynamics = data.at("dynamics");
  config.dynamics = {.latent = json_integer<std::uint32_t>(dynamics.at("latent")),
                     .action = json_integer<std::uint32_t>(dynamics.at("action")),
                     .hidden = json_integer<std::uint32_t>(dynamics.at("hidden")),
                     .mixtures = json_integer<std::uint32_t>(dynamics.at("mixtures")),
                     .rules = json_integer<std::uint32_t>(dynamics.at("xfers")),
                     .count_bins = json_integer<std::uint32_t>(dynamics.at("count_bins")),
                     .sigma_floor = dynamics.at("sigma_floor").get<double>()};
  config.locations = json_integer<std::uint32_t>(data.at("locations"));
  config.reward_hidden = json_integer<std::uint32_t>(data.at("reward_hidden"));
  return config;
}

WorldModel read_manifest(const std::string& text) {
  const json data = json::parse(text);
  WorldModel world;
  world.config = read_config(data);
  world.observation_schema = json_integer<std::uint32_t>(data.at("observation_schema"));
  world.horizon = json_integer<std::uint32_t>(data.at("horizon"));
  world.location_limit = json_integer<std::uint32_t>(data.at("location_limit"));
  if (data.value(env::kAllSitesField, false)) world.action_mode = env::ActionMode::all_sites;
  world.reward_kind = data.at("reward_kind").get<std::string>();
  world.op_kinds = data.at("op_kinds").get<std::vector<std::string>>();
  world.rule_set_hash = data.at("rule_set_hash").get<std::string>();
  world.rule_count = json_integer<std::uint32_t>(data.at("rule_count"));
  world.rules = json_integers<std::uint16_t>(data.at("xfers"));
  world.model_names = data.at("model_names").get<std::vector<std::string>>();
  for (const json& start : data.at("starts"))
    world.starts.push_back(
        {start.at("model").get<std::string>(), {}, json_integers<std::uint16_t>(start.at("counts"))});
  world.training_record = data.at("training_record").dump();
  return world;
}

void put_block(ByteWriter& out, std::span<const std::byte> bytes) {
  out.value(static_cast<std::uint64_t>(bytes.size()));
  out.raw(bytes);
}

void put_floats(ByteWriter& out, std::span<const float> values) {
  put_block(out, std::as_bytes(values));
}

std::span<const std::byte> take_block(ByteReader& in) {
  return in.raw(in.value<std::uint64_t>());
}

std::vector<float> take_floats(ByteReader& in) {
  const auto raw = take_block(in);
  if (raw.size() % sizeof(float) != 0) throw NnError("an array ends in mid-number", in.where(), "");
  std::vector<float> values(raw.size() / sizeof(float));
  if (!raw.empty()) std::memcpy(values.data(), raw.data(), raw.size());
  return values;
}

void put_weights(ByteWriter& out, const Weights& weights) {
  put_block(out, weights.tensors.empty() ? std::vector<std::byte>{} : encode_weights(weights));
}

Weights take_weights(ByteReader& in) {
  const auto block = take_block(in);
  return block.empty() ? Weights{} : decode_weights(block);
}

void put_parts(ByteWriter& out, const WorldBundle& bundle) {
  const WorldModel& world = bundle.world;
  put_weights(out, world.encoder);
  put_floats(out, world.latents.mean);
  put_floats(out, world.latents.sd);
  put_weights(out, world.dynamics);
  out.value(world.dynamics_of);
  put_weights(out, world.reward);
  out.value(world.reward_of);
  out.value(world.rewards);
  for (const WorldStart& start : world.starts) put_floats(out, start.latent);
  put_block(out, bundle.controller);
  out.value(bundle.controller_of);
  put_block(out, bundle.work);
}

void take_parts(ByteReader& in, WorldBundle& bundle, std::uint32_t format) {
  WorldModel& world = bundle.world;
  world.encoder = take_weights(in);
  world.latents.mean = take_floats(in);
  world.latents.sd = take_floats(in);
  world.dynamics = take_weights(in);
  world.dynamics_of = in.value<Hash128>();
  world.reward = take_weights(in);
  world.reward_of = in.value<Hash128>();
  for (float* figure : {&world.rewards.mean, &world.rewards.sd, &world.rewards.low, &world.rewards.high})
    *figure = in.value<float>();
  if (format > kLinearRewards) world.rewards.unit = in.value<float>();
  for (WorldStart& start : world.starts) start.latent = take_floats(in);
  const auto controller = take_block(in);
  bundle.controller.assign(controller.begin(), controller.end());
  bundle.controller_of = in.value<Hash128>();
  if (format == kWithoutWork) return;
  const auto work = take_block(in);
  bundle.work.assign(work.begin(), work.end());
}

}  // namespace

std::vector<std::byte> encode_bundle(const WorldBundle& bundle) {
  const std::string text = manifest(bundle.world).dump();
  Bytes bytes;
  ByteWriter out(bytes);
  out.value(kBundleMagic);
  out.value(kBundleFormat);
  out.value(static_cast<std::uint64_t>(text.size()));
  out.text(text);
  put_parts(out, bundle);
  out.value(hash_bytes(bytes));
  return bytes;
}

WorldBundle decode_bundle(std::span<const std::byte> bytes, const std::string& where) {
  ByteReader reader(bytes, where);
  if (bytes.size() < sizeof(kBundleMagic) || reader.value<std::uint64_t>() != kBundleMagic)
    throw NnError("not a world model", where, "give a file that regraft wrote (*.world)");
  const auto format = reader.value<std::uint32_t>();
  if (format != kBundleFormat && format != kLinearRewards && format != kWithoutWork)
    throw NnError("world model format " + std::to_string(format) + " is unknown", where,
                  "this program reads format " + std::to_string(kBundleFormat));
  if (reader.left() < sizeof(Hash128)) throw NnError("ends too early", where, "the file is truncated");
  const auto content = bytes.first(bytes.size() - sizeof(Hash128));
  Hash128 stored;
  std::memcpy(&stored, bytes.data() + content.size(), sizeof(stored));
  if (hash_bytes(content) != stored)
    throw NnError("the content hash does not match", where,
                  "the file is truncated or damaged: copy it again");
  WorldBundle bundle;
  try {
    bundle.world = read_manifest(reader.text(reader.value<std::uint64_t>()));
  } catch (const json::exception& error) {
    throw NnError(std::string("its manifest cannot be read: ") + error.what(), where, "fit it again");
  }
  take_parts(reader, bundle, format);
  if (reader.left() != sizeof(Hash128))
    throw NnError("has bytes after its end", where, "the file is damaged");
  check(bundle.world, where);
  if (!bundle.controller.empty() && bundle.controller_of != bundle.world.version())
    throw MixedVersions("its controller was trained in another world model", where,
                        "publish a controller with the world it was trained in");
  return bundle;
}

void save_bundle(const WorldBundle& bundle, const std::filesystem::path& path) {
  check(bundle.world, path.string());
  write_file_atomic(path, std::span<const std::byte>(encode_bundle(bundle)));
}

WorldBundle load_bundle(const std::filesystem::path& path) {
  const MappedFile file(path);
  return decode_bundle(file.bytes(), path.string());
}

bool BundleSlot::take(std::span<const std::byte> bytes, const std::string& where) {
  try {
    bundle_ = std::make_unique<WorldBundle>(decode_bundle(bytes, where));
    return true;
  } catch (const MixedVersions&) {
    ++refused_;
    return false;
  }
}

}
