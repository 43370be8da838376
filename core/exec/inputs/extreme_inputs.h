#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/exec/inputs/inputs.h"

namespace regraft::exec {

/// Floats that a normal draw does not give. zeros, equal: every element is the same. tiny, large, huge:
/// normal numbers times the least normal number, 1e4, or a number whose square overflows. mask: one input is
/// 0 but for some places, or all, along its last axis: -1e4, -1e9 or the type's lowest, as people write
/// masks. infinite_mask: the same with -inf. infinity, nan: one element of one input.
enum class Extreme : std::uint8_t { zeros, equal, tiny, large, huge, mask, infinite_mask, infinity, nan };

struct ExtremeDraw {
  Extreme kind = Extreme::zeros;
  std::size_t input = 0;  // masks, infinity, nan: which

  /// "m is a mask".
  std::string label(std::span<const ValueInfo> inputs) const;
};

/// The draws that are worth making of a model with these inputs. Each kind comes once. Masks come for the few
/// inputs that may be one, by their name or because they are smaller than others. With `finite` there is none
/// that has or leads to Inf or NaN.
std::vector<ExtremeDraw> extreme_draws(std::span<const ValueInfo> inputs, bool finite);

/// What another source draws, its floats made extreme. Refers to the source.
class ExtremeInputs : public InputSource {
 public:
  ExtremeInputs(const InputSource& source, ExtremeDraw draw) : source_(source), draw_(draw) {}
  std::vector<Tensor> draw(std::span<const ValueInfo> inputs, const SymbolSizes& sizes,
                           Rng& rng) const override;

 private:
  const InputSource& source_;
  ExtremeDraw draw_;
};

}
