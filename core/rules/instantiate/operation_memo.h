#pragma once

// Internal to core/rules: remembers what operations of right sides come to.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/bounded_memo.h"
#include "core/base/inline_vector.h"
#include "core/graph/op.h"

namespace regraft::rules {

/// An operation of a right side on certain operands, once its attributes are in canonical form.
struct Operation {
  std::string problem;  // why it cannot be; then nothing else is said
  bool absent = false;  // made from an absent operand
  bool folds = false;   // of constants alone
  bool idle = false;    // gives its first operand as it is
  graph::AttrId attrs{};
  std::size_t operands = 0;               // of those given; the others became attributes
  InlineVector<std::uint8_t, 4> dropped;  // operands among them that became attributes
  graph::TypeList types;                  // of its outputs; empty: not inferred, or never the same twice
};

/// Operations by what decides them: the operation, its attributes, and the types of its operands, with the
/// contents of constants that inference may read; and the bytes of lists of numbers. Sizes that rewrites can
/// make have no end, so it is bounded. Of one Tables. One thread.
class OperationMemo {
 public:
  /// Null where nothing is known. What find(), add() and bytes() gave before may be gone.
  Operation* find(const Hash128& key) { return operations_.find(key); }
  Operation& add(const Hash128& key, Operation operation) {
    return operations_.add(key, std::move(operation));
  }
  /// The numbers as elements of a constant, converted once.
  std::span<const std::byte> bytes(graph::DType dtype, std::span<const std::int64_t> numbers);
  /// A reason that outlives its exception, until the next one.
  std::string_view keep(const std::exception& error) { return reason_ = error.what(); }
  void clear();

 private:
  BoundedMemo<Operation> operations_;
  BoundedMemo<std::vector<std::byte>> bytes_;
  std::string reason_;
};

}
