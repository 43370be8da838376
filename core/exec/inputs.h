#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/exec/tensor.h"

namespace regraft::exec {

/// Integers low <= i < high.
struct IntegerRange {
  std::int64_t low = 0;
  std::int64_t high = 1;

  bool operator==(const IntegerRange&) const = default;
};

/// Ranges of integer inputs by input name.
using IntegerRanges = std::map<std::string, IntegerRange>;

/// The ranges that a model's own look-ups imply: an integer input that reaches the indices of a Gather,
/// GatherElements, GatherND, ScatterElements, ScatterND or an embedding through ops that only move elements
/// must lie within the axis that is looked up; the tightest one counts. Inputs without such a use are absent.
IntegerRanges infer_ranges(const std::filesystem::path& model);

/// The dims of a value with its symbols replaced by their sizes.
std::vector<std::int64_t> concrete_dims(const ValueInfo& info, const SymbolSizes& sizes);

/// Where a model's inputs come from. Implementations are stateless: all randomness is in the stream given.
class InputSource {
 public:
  virtual ~InputSource() = default;
  /// One tensor for each input, in order. Throws ExecError for a dtype it cannot fill.
  virtual std::vector<Tensor> draw(std::span<const ValueInfo> inputs, const SymbolSizes& sizes,
                                   Rng& rng) const = 0;
  /// The sizes of all symbols where the source has but one; empty where it can draw at any.
  virtual SymbolSizes sizes(std::span<const ValueInfo>) const { return {}; }
  /// Whether every draw gives the same.
  virtual bool is_fixed() const { return false; }
};

/// Floats are standard normal; booleans fair coins; integers uniform in their range, which is, when `ranges`
/// has none, the whole type for 8 bits and 0 to 7 beyond. An input whose name contains "mask" is a valid mask
/// of 0 and 1: along the last axis first k ones, then zeros, k >= 1 drawn for each row.
class RandomInputs : public InputSource {
 public:
  explicit RandomInputs(IntegerRanges ranges = {}) : ranges_(std::move(ranges)) {}
  std::vector<Tensor> draw(std::span<const ValueInfo> inputs, const SymbolSizes& sizes,
                           Rng& rng) const override;

 private:
  Tensor draw_one(const ValueInfo& info, const SymbolSizes& sizes, Rng& rng) const;

  IntegerRanges ranges_;
};

}  // namespace regraft::exec
