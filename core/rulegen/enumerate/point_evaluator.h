#pragma once

// Internal to core/rulegen: what generated graphs compute, at random points.

#include <array>
#include <span>
#include <vector>

#include "core/rulegen/enumerate/graph_code.h"
#include "core/rulegen/enumerate/prime_field.h"

namespace regraft::rulegen {

/// Several independent random points: two values are taken as equal where they agree at all of them.
inline constexpr std::size_t kPoints = 2;

/// A tensor at all points, and what the generator knows of it.
struct PointValue {
  std::array<HostTensor, kPoints> at;
  Hash128 print;  // of dims and elements at all points
  std::array<std::int16_t, 4>
      cuts{};             // where a Concat joined it, by axis: there a Split may part it; 0: nowhere
  bool constant = false;  // of constants alone
};

/// Values of an op table's leaves and nodes at random points of a field (Schwartz 1980, Zippel 1979).
class PointEvaluator {
 public:
  PointEvaluator(const OpTable& table, std::uint64_t seed);

  const PointValue& leaf(std::size_t number) const { return leaves_[number]; }
  /// Whether the form takes operands of these dims and cuts; throws nothing.
  bool fits(std::uint16_t form, const PointValue* a, const PointValue* b) const;
  /// The outputs of a node that fits.
  std::vector<PointValue> evaluate(std::uint16_t form, const PointValue* a, const PointValue* b) const;
  /// The outputs of all nodes of a graph; leaves past the table's are `more`.
  std::vector<std::vector<PointValue>> values_of(const GraphCode& code,
                                                 std::span<const PointValue> more = {}) const;
  /// Whether every node fits its operands.
  bool well_typed(const GraphCode& code) const;
  /// Fingerprints of the roots of a graph, in the order of roots_of (of the leaf, for a graph without nodes).
  std::vector<Hash128> root_prints(const GraphCode& code, std::span<const PointValue> more = {}) const;

 private:
  const PointValue* find(std::int8_t input, const std::vector<std::vector<PointValue>>& nodes,
                         std::span<const PointValue> more) const;
  graph::AttrBlock attributes(const Form& form, const PointValue* a, const PointValue* b) const;

  const OpTable& table_;
  std::vector<PointValue> leaves_;
};

}
