#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/base/inline_vector.h"
#include "core/graph/dtype.h"
#include "core/graph/graph_error.h"

namespace regraft::graph {

/// A dimension: a size >= 0, or a symbol (negative: symbol s is -1 - s).
using Dim = std::int64_t;
using SymbolId = std::uint32_t;
inline bool is_symbol(Dim dim) {
  return dim < 0;
}
inline Dim symbol_dim(SymbolId symbol) {
  return -1 - static_cast<Dim>(symbol);
}
inline SymbolId dim_symbol(Dim dim) {
  return static_cast<SymbolId>(-1 - dim);
}

using Dims = InlineVector<Dim, 6>;

/// One element of a tensor of integers that says sizes: a number, a dim, or not known before the model runs.
struct Element {
  enum class Is : std::uint8_t { unknown, number, symbol };
  Is is = Is::unknown;
  std::int64_t value = 0;  // the number, or the symbol as a Dim

  static Element number(std::int64_t value) { return {Is::number, value}; }
  static Element of(Dim dim) { return {is_symbol(dim) ? Is::symbol : Is::number, dim}; }
  bool known() const { return is != Is::unknown; }
  bool is_number() const { return is == Is::number; }
  /// A number >= 0 or a symbol.
  bool is_dim() const { return is == Is::symbol || (is == Is::number && value >= 0); }
  bool operator==(const Element&) const = default;
};

struct TensorType {
  DType dtype = DType::undefined;
  bool ranked = false;  // false: nothing is known of the shape, dims is empty
  Dims dims;

  std::size_t rank() const { return dims.size(); }
  /// Every dim is a number.
  bool is_static() const;
  /// Number of elements, or nothing when a dim is a symbol or the rank is unknown.
  std::optional<std::int64_t> element_count() const;
  bool operator==(const TensorType&) const = default;
};

/// Whether they can be the same type at some sizes: a symbol may be any size.
bool may_be_equal(const TensorType& a, const TensorType& b);

// Interned ids: equal ids mean equal contents within one Tables.
enum class TypeId : std::uint32_t {};
enum class AttrId : std::uint32_t {};
enum class WeightId : std::uint32_t { none = ~std::uint32_t{0} };
enum class SignatureId : std::uint32_t {};

template <typename Id>
constexpr std::size_t index(Id id) {
  return static_cast<std::size_t>(id);
}

}
