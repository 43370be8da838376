#pragma once

#include <string>
#include <vector>

#include "core/rulegen/enumerate/term.h"

namespace regraft::rulegen {

/// A leaf of the generator's graphs: leaves of one shape are interchangeable.
struct LeafSpec {
  std::string name;
  std::vector<std::int64_t> dims;
};

/// What graphs are made of. To add an op: one row in op_table.cc (and, for an op that the field does
/// not know, its meaning in prime_field.cc).
struct OpTable {
  std::vector<Form> forms;
  std::vector<LeafSpec> leaves;
  std::uint16_t relu = 0;  // the number of the plain Relu

  std::uint64_t commutative_forms = 0;  // as bits
  std::size_t most_elements = 512;      // of what a Concat makes

  bool commutative(std::uint16_t form) const { return (commutative_forms >> form & 1u) != 0; }
};

/// Names of all rows, and of the sets of rows ("taso", "linear", "conv", "movement").
std::vector<std::string> op_names();

/// The rows of the given names or sets, with the leaves that they take; Relu is always there. TASO's op set
/// and shapes (Jia et al., SOSP 2019, section 7.2), with smaller images. Throws RulegenError for an unknown
/// name.
OpTable op_table(const std::vector<std::string>& names);

/// The same table on other shapes (`variant` 1, 2...): equalities that hold there too are no accident.
OpTable on_other_shapes(OpTable table, int variant);

}
