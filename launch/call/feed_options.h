#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/exec/inputs/find_feed.h"

namespace regraft::launch {

/// What a command line says about how models are fed.
struct FeedOptions {
  std::vector<std::string> bindings;          // --bind
  std::vector<std::filesystem::path> inputs;  // --inputs
  bool foreign = false;                       // bindings may name dims of other models
  std::optional<std::filesystem::path> feed;  // found by another process of ours: the others do not count
};

/// Throws UsageError.
exec::FeedRequest to_request(const FeedOptions& options, std::uint64_t seed);

/// How the model is fed, read from options.feed or found in this process. Throws what find_feed throws, and
/// ExecError where the model runs at no sizes.
exec::Feed feed_of(const std::filesystem::path& model, const FeedOptions& options, std::uint64_t seed);

/// What a person is told: the dims with their sizes and why, and the other sizes; empty for a static model.
std::string describe_sizes(const exec::Feed& feed);

}
