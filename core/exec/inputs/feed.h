#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/exec/inputs/inputs.h"

namespace regraft::exec {

/// The size that is taken for one dynamic dim of a model's inputs, and why.
struct TakenSize {
  std::string dim;  // its name in the model; "input.axis" where it has none
  std::int64_t size = 1;
  std::string why;

  bool operator==(const TakenSize&) const = default;
};

/// Sizes at which a model runs: of the dims of its inputs, and of those inside that no formula gives.
struct FeedPoint {
  SymbolSizes sizes;
  SymbolSizes inner;

  /// "batch=1, seq=128"; "its fixed sizes" without dynamic dims.
  std::string describe() const;
  /// Both together.
  SymbolSizes all() const;
  bool operator==(const FeedPoint&) const = default;
};

/// How a model is fed: at which sizes, with which inputs. It is found once (find_feed.h). All that run the
/// model or predict its cost use it, so they see the same sizes and values. It goes from process to process
/// as JSON.
struct Feed {
  std::vector<TakenSize> taken;   // at the first point, in the order of the inputs
  std::vector<FeedPoint> points;  // the first counts most; none where the model does not run
  InputMeanings meanings;
  std::optional<std::int64_t> constant;      // of all integers, where what they mean does not run
  std::vector<std::filesystem::path> files;  // of the user's own inputs
  std::string problem;                       // why it runs at no sizes; empty where it does
  std::string remedy;

  bool runs() const { return !points.empty(); }
  /// Throws ExecError, where the user's files cannot be read.
  std::unique_ptr<InputSource> source() const;
  /// "batch=1 (usual batch), seq=128 (usual length)"; empty for a model without dynamic dims.
  std::string describe() const;
};

nlohmann::json to_json(const Feed& feed);
/// Reads what to_json wrote. Throws ExecError.
Feed feed_from_json(const nlohmann::json& json);
/// The same of a file. Throws ExecError.
Feed load_feed(const std::filesystem::path& path);

}
