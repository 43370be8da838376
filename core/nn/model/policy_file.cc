#include "core/nn/model/policy_file.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/json_integer.h"
#include "core/base/xz.h"
#include "core/env/observation.h"
#include "core/nn/model/byte_reader.h"
#include "core/nn/model/nn_error.h"

namespace regraft::nn {
namespace {

using internal::ByteReader;
using nlohmann::json;

constexpr std::size_t kMostUnpacked = std::size_t{1} << 30;
constexpr std::uint64_t kPolicyMagic = 0x594C4F5054464752;  // "RGFTPOLY"
constexpr std::uint32_t kPolicyFormat = 1;
constexpr int kWithLogPriors = 2;  // how rules at all of their sites are chosen: append_log_priors()

json manifest(const PolicyFile& policy) {
  json all = {
      {"network",
       {{"width", policy.network.width},
        {"steps", policy.network.steps},
        {"node_kinds", policy.network.node_kinds},
        {"head", enum_name(policy.network.head)},
        {"head_width", policy.network.head_width},
        {"xfers", policy.network.rules}}},
      {"observation_schema", policy.observation_schema},
      {"op_kinds", policy.op_kinds},
      {"rule_set_hash", policy.rule_set_hash},
      {"rule_names", policy.rule_names},
      {"horizon", policy.limits.horizon},
      {"location_limit", policy.limits.location_limit},
      {"training_record", json::parse(policy.training_record)},
  };
  if (policy.network.action_mode == env::ActionMode::all_sites)
    all["network"][env::kAllSitesField] = kWithLogPriors;
  return all;
}

/// The value of a key in TOML of one "key = value" a line; nothing where it does not say.
std::optional<std::uint32_t> recorded(const std::string& toml, const std::string& key) {
  const std::string wanted = key + " = ";
  std::size_t at = toml.starts_with(wanted) ? 0 : toml.find("\n" + wanted);
  if (at == std::string::npos) return std::nullopt;
  at = toml.find(wanted, at) + wanted.size();
  std::uint32_t value = 0;
  const auto [end, problem] = std::from_chars(toml.data() + at, toml.data() + toml.size(), value);
  return problem == std::errc() ? std::optional(value) : std::nullopt;
}

env::EpisodeLimits limits_of(const json& data) {
  const json& record = data.at("training_record");
  const std::string config =
      record.contains("config") && record["config"].is_string() ? record["config"].get<std::string>() : "";
  const auto read = [&](const char* field, const char* key, std::uint32_t by_default) {
    if (data.contains(field)) return json_integer<std::uint32_t>(data[field]);
    return recorded(config, key).value_or(by_default);
  };
  return {.horizon = read("horizon", "workload.horizon", env::EpisodeLimits::kDefaultHorizon),
          .location_limit =
              read("location_limit", "workload.locations", env::EpisodeLimits::kDefaultLocationLimit)};
}

void read_manifest(const std::string& text, PolicyFile& policy) {
  const json data = json::parse(text);
  const json& network = data.at("network");
  policy.network = {.width = json_integer<std::uint32_t>(network.at("width")),
                    .steps = json_integer<std::uint32_t>(network.at("steps")),
                    .node_kinds = json_integer<std::uint32_t>(network.at("node_kinds")),
                    // A file that names no head has this one.
                    .head = enum_from<Head>(network.value("head", "pointer"), "network.head"),
                    .head_width = json_integer<std::uint32_t>(network.value("head_width", json(0))),
                    .rules = json_integer<std::uint32_t>(network.value("xfers", json(0))),
                    .action_mode = network.contains(env::kAllSitesField) ? env::ActionMode::all_sites
                                                                         : env::ActionMode::one_site};
  if (policy.network.action_mode == env::ActionMode::all_sites &&
      network[env::kAllSitesField] != kWithLogPriors)
    throw NnError(
        "the policy chooses among rules at all of their sites as an older program did, without priors",
        "policy", "train it again with this version");
  policy.observation_schema = json_integer<std::uint32_t>(data.at("observation_schema"));
  policy.op_kinds = data.at("op_kinds").get<std::vector<std::string>>();
  policy.rule_set_hash = data.at("rule_set_hash").get<std::string>();
  policy.rule_names = data.at("rule_names").get<std::vector<std::string>>();
  policy.limits = limits_of(data);
  policy.training_record = data.at("training_record").dump();
}

void check_meaning(const PolicyFile& policy, const std::string& where) {
  if (policy.observation_schema != env::kObservationSchema) {
    throw NnError("the policy was trained on observation schema " +
                      std::to_string(policy.observation_schema) + ", this program makes schema " +
                      std::to_string(env::kObservationSchema),
                  where, "train or export it again with this version");
  }
  if (policy.limits.horizon < 1 || policy.limits.location_limit < 1 || policy.limits.location_limit > 65535)
    throw NnError("a horizon of " + std::to_string(policy.limits.horizon) + " steps and a limit of " +
                      std::to_string(policy.limits.location_limit) + " locations are none",
                  where, "the file is damaged");
  check(policy.network);
  if (policy.network.head == Head::hierarchical && policy.rule_names.size() + 1 != policy.network.rules)
    throw NnError("a hierarchical policy with another number of rules than it names", where,
                  "the file is damaged");
  if (policy.op_kinds.size() > policy.network.node_kinds) {
    throw NnError("more op kinds than embedding rows", where, "the file is damaged");
  }
  check(policy.weights, policy.network);
}

}  // namespace

std::vector<std::byte> encode_policy(const PolicyFile& policy) {
  const std::string text = manifest(policy).dump();
  Bytes bytes;
  ByteWriter out(bytes);
  out.value(kPolicyMagic);
  out.value(kPolicyFormat);
  out.value(static_cast<std::uint64_t>(text.size()));
  out.text(text);
  out.raw(encode_weights(policy.weights));
  out.value(hash_bytes(bytes));
  return bytes;
}

PolicyFile decode_policy(std::span<const std::byte> bytes, const std::string& where) {
  ByteReader reader(bytes, where);
  if (bytes.size() < sizeof(kPolicyMagic) || reader.value<std::uint64_t>() != kPolicyMagic) {
    throw NnError("not a policy file", where, "give a file that regraft exported (*.policy)");
  }
  if (const auto format = reader.value<std::uint32_t>(); format != kPolicyFormat) {
    throw NnError("policy format " + std::to_string(format) + " is unknown", where,
                  "this program reads format " + std::to_string(kPolicyFormat));
  }
  if (reader.left() < sizeof(Hash128)) throw NnError("ends too early", where, "the file is truncated");
  const auto content = bytes.first(bytes.size() - sizeof(Hash128));
  Hash128 stored;
  std::memcpy(&stored, bytes.data() + content.size(), sizeof(stored));
  if (hash_bytes(content) != stored) {
    throw NnError("the content hash does not match", where,
                  "the file is truncated or damaged: copy it again");
  }
  PolicyFile policy;
  try {
    read_manifest(reader.text(reader.value<std::uint64_t>()), policy);
  } catch (const json::exception& error) {
    throw NnError(std::string("its manifest cannot be read: ") + error.what(), where,
                  "export the policy again");
  } catch (const UsageError& error) {
    throw NnError(std::string("its manifest cannot be used: ") + error.what(), where,
                  "use the version of the program that made it");
  }
  policy.weights = decode_weights(reader.raw(reader.left() - sizeof(Hash128)));
  check_meaning(policy, where);
  return policy;
}

void save_policy(const PolicyFile& policy, const std::filesystem::path& path) {
  write_file_atomic(path, encode_policy(policy));
}

PolicyFile load_policy(const std::filesystem::path& path) {
  const MappedFile file(path);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  const std::optional<std::string> unpacked = unxz(text, kMostUnpacked);
  return decode_policy(unpacked ? std::as_bytes(std::span(*unpacked)) : file.bytes(), path.string());
}

void check_rule_set(const PolicyFile& policy, const std::string& rule_set_hash) {
  if (policy.network.head == Head::pointer || policy.rule_set_hash == rule_set_hash) return;
  throw NnError("the policy is hierarchical and was trained on rule set " + policy.rule_set_hash +
                    ", these are rule set " + rule_set_hash,
                "policy", "use its own rules, or a policy with the pointer head, which reads any");
}

std::vector<std::string> unseen_rules(const PolicyFile& policy, std::span<const std::string> current) {
  std::set<std::string> seen(policy.rule_names.begin(), policy.rule_names.end());
  if (const json record = json::parse(policy.training_record); record.contains(kMatchedRules))
    seen = record.at(kMatchedRules).get<std::set<std::string>>();
  std::vector<std::string> unseen;
  std::copy_if(current.begin(), current.end(), std::back_inserter(unseen),
               [&](const auto& name) { return !seen.contains(name); });
  return unseen;
}

PolicyFile with_op_kinds(const PolicyFile& policy, std::span<const std::string> op_kinds) {
  if (std::ranges::equal(policy.op_kinds, op_kinds)) return policy;
  PolicyFile moved = policy;
  moved.op_kinds.assign(op_kinds.begin(), op_kinds.end());
  moved.network.node_kinds = std::max(policy.network.node_kinds, static_cast<std::uint32_t>(op_kinds.size()));
  moved.weights.tensors = weight_layout(moved.network);
  moved.weights.values.assign(moved.weights.tensors.back().offset + moved.weights.tensors.back().count, 0.0f);
  for (const auto& spec : moved.weights.tensors) {
    if (spec.name != "node_input.kind")
      std::ranges::copy(policy.weights.tensor(spec.name), moved.weights.tensor(spec.name).begin());
  }
  const std::size_t width = policy.network.width;
  const auto old_rows = policy.weights.tensor("node_input.kind");
  const auto new_rows = moved.weights.tensor("node_input.kind");
  std::vector<float> mean(width, 0.0f);
  for (std::size_t row = 0; row < policy.op_kinds.size(); ++row) {
    for (std::size_t i = 0; i < width; ++i) {
      mean[i] += old_rows[row * width + i] / static_cast<float>(policy.op_kinds.size());
    }
  }
  for (std::size_t row = 0; row < op_kinds.size(); ++row) {
    const auto found = std::ranges::find(policy.op_kinds, op_kinds[row]);
    const float* source =
        found == policy.op_kinds.end()
            ? mean.data()
            : old_rows.data() + static_cast<std::size_t>(found - policy.op_kinds.begin()) * width;
    std::copy_n(source, width, new_rows.begin() + static_cast<std::ptrdiff_t>(row * width));
  }
  return moved;
}

}
