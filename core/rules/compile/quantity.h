#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/hash.h"
#include "core/base/inline_vector.h"
#include "core/graph/attributes.h"
#include "core/graph/types.h"

namespace regraft::rules {

/// Dims, axes, pads and the like: short, so that they need no memory of their own.
using List = InlineVector<std::int64_t, 8>;

/// What an attribute expression yields. `none` is the value of anything that cannot be computed (an index out
/// of range, a division by zero, arithmetic on an unknown dim): a match on which it arises is no match.
///
/// Integers may stand for symbolic dims (encode_dim): these compare and move through lists, and the only
/// arithmetic that they admit is + 0, - 0, * 1 and / 1.
struct Quantity {
  enum class Kind : std::uint8_t { none, boolean, integer, real, list, text };
  Kind kind = Kind::none;
  bool exact = false;        // real: of a float64 constant, so compared as it stands and not as a float32
  std::int64_t integer = 0;  // boolean, integer
  double real = 0;
  List list;
  std::string text;

  static Quantity of(bool value);
  static Quantity of(std::int64_t value);
  static Quantity of(double value);
  static Quantity of(List value);
  static Quantity of(std::string value);
  static Quantity of(const graph::AttrValue& value);

  /// Becomes the value of an attribute, in the memory that it has.
  void assign(const graph::AttrValue& value);
  bool known() const { return kind != Kind::none; }
  bool truth() const { return kind == Kind::boolean && integer != 0; }
  /// Equality as the rule language has it: a list equals a number when all its elements do.
  bool equals(const Quantity& other) const;
  bool equals(const graph::AttrValue& value) const;
  /// Adds all that equals() and as_attr() look at.
  void add_to(Hasher& hasher) const;
  /// As an attribute; nothing when it holds a symbolic dim (other than one in a list for `shape`, written
  /// -1).
  std::optional<graph::AttrValue> as_attr(graph::Attr attr) const;
};

std::int64_t encode_dim(graph::Dim dim);
bool is_symbolic(std::int64_t encoded);
graph::Dim decode_dim(std::int64_t encoded);

/// +, -, *, / and % by floor division; elementwise on lists, with numbers applied to each element.
Quantity arithmetic(char op, const Quantity& a, const Quantity& b);

/// Whether its values are lists of integers.
bool takes_list(graph::Attr attr);
/// Whether an attribute's value is a real number, for which a whole one may be written.
bool takes_real(graph::Attr attr);

}
