#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace regraft::graph {

/// Attributes of known ops, by their ONNX names. Operands that the standard moved between attribute and input
/// over its versions (Squeeze axes, Split sizes, Reshape's shape...) are attributes here when they are
/// constant. A new one goes to the end: hashes, and with them orders, depend on the numbers.
enum class Attr : std::uint8_t {
  alpha,
  approximate,
  axes,
  axis,
  beta,
  ceil_mode,
  count_include_pad,
  dilations,
  ends,
  epsilon,
  group,
  keepdims,
  kernel_shape,
  max,
  min,
  mode,
  momentum,
  output_padding,
  pads,
  perm,
  repeats,
  shape,
  split,
  starts,
  steps,
  strides,
  to,
  trans_a,
  trans_b,
  value,
  num_heads,
  scale,
  op_type,   // with its domain: what an opaque node is
  equation,  // of an Einsum
  count_     // number of attributes
};

/// The ONNX spelling ("transA" for trans_a).
std::string_view attr_name(Attr attr);
std::optional<Attr> attr_from_name(std::string_view name);

using Ints = std::vector<std::int64_t>;
using AttrValue = std::variant<std::int64_t, double, Ints, std::string>;

/// "3", "0.5", "[1,2]", "\"NOTSET\"": as the rule language writes values.
std::string to_string(const AttrValue& value);

/// Attributes of one node, sorted by Attr, in canonical form (defaults filled in, negative axes resolved,
/// pads explicit).
class AttrBlock {
 public:
  using Entry = std::pair<Attr, AttrValue>;

  AttrBlock() = default;
  AttrBlock(std::initializer_list<Entry> entries);

  /// Adds or replaces.
  void set(Attr attr, AttrValue value);
  void erase(Attr attr);
  const AttrValue* find(Attr attr) const;
  bool has(Attr attr) const { return find(attr) != nullptr; }

  /// Typed access; throws GraphError when absent or of another type.
  std::int64_t integer(Attr attr) const;
  double real(Attr attr) const;
  const Ints& ints(Attr attr) const;
  const std::string& text(Attr attr) const;

  const std::vector<Entry>& entries() const { return entries_; }
  bool operator==(const AttrBlock&) const = default;

 private:
  std::vector<Entry> entries_;
};

}
