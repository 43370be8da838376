#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/env/observation.h"
#include "core/nn/model/config.h"
#include "core/nn/model/weights.h"

namespace regraft::nn {

/// A trained policy as it is shipped: small, portable, versioned. It loads on any op table, since embedding
/// rows are matched by op name; not on another observation schema. With the pointer head it loads on any rule
/// set, since rules are read as text features; a hierarchical one is bound to its own.
struct PolicyFile {
  NetworkConfig network;
  std::uint32_t observation_schema = 0;
  std::vector<std::string> op_kinds;    // names of the embedding rows, in order; at most network.node_kinds
  std::string rule_set_hash;            // of the rules it was trained on
  std::vector<std::string> rule_names;  // trained on, in order
  /// Limits of the episodes that it was trained on. Older files have them in the config of their training
  /// record; files without that config get the defaults.
  env::EpisodeLimits limits = {};
  std::string training_record = "{}";  // a JSON object: config, counters, curves; free in form
  Weights weights;

  bool operator==(const PolicyFile&) const = default;
};

std::vector<std::byte> encode_policy(const PolicyFile& policy);
/// Throws NnError: not a policy, truncated, damaged, another format or another observation schema. `where`
/// names the source in messages.
PolicyFile decode_policy(std::span<const std::byte> bytes, const std::string& where);

/// Written aside, synced and renamed: a reader sees the old file or the new one. Throws FileError and
/// leaves nothing behind.
void save_policy(const PolicyFile& policy, const std::filesystem::path& path);
/// The file may be packed by xz, as the one that ships is.
PolicyFile load_policy(const std::filesystem::path& path);

/// Throws NnError where the policy is hierarchical and was trained on another rule set, by hash.
void check_rule_set(const PolicyFile& policy, const std::string& rule_set_hash);

/// In the training record: the names of the rules that matched somewhere in training.
inline constexpr char kMatchedRules[] = "matched_rules";

/// The rules of `current` that the policy never saw in training: that were not loaded then, or, where its
/// record says which did, matched nowhere.
std::vector<std::string> unseen_rules(const PolicyFile& policy, std::span<const std::string> current);

/// The same policy on another op table: rows of ops it knows are kept, new ops share the mean row.
PolicyFile with_op_kinds(const PolicyFile& policy, std::span<const std::string> op_kinds);

}
