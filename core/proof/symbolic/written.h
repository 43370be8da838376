#pragma once

// Internal to core/proof: the value of an element as the definitions of the operations say it, nothing
// multiplied out and no sum moved.

#include <z3++.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace regraft::proof {

struct Written;
using WrittenRef = std::shared_ptr<const Written>;  // values share their parts

/// A node of an expression over the reals. Never changed once it is made.
struct Written {
  enum class Form : std::uint8_t {
    number,    // numerator / denominator
    atom,      // an element of a leaf (name, index), or a function of `args` and integers `index`
    add,       // of two
    multiply,  // of two
    negate,    // of one
    guarded,   // args[0] where index[0] holds, else 0
    sum,       // of args[0] over all integers 0 <= index[0] < index[1]
  };
  Form form = Form::number;
  std::int64_t numerator = 0, denominator = 1;
  std::string name;
  std::vector<z3::expr> index;
  std::vector<WrittenRef> args;

  static WrittenRef number(std::int64_t numerator, std::int64_t denominator);
  static WrittenRef atom(std::string name, std::vector<z3::expr> index, std::vector<WrittenRef> args);
  /// Nothing where a part is nothing.
  static WrittenRef of(Form form, std::vector<z3::expr> index, std::vector<WrittenRef> args);
};

}
