#pragma once

// Internal to core/rules: remembers what operations of right sides come to.

#include <unordered_map>

#include "core/base/hash.h"
#include "core/base/inline_vector.h"
#include "core/graph/op.h"

namespace regraft::rules {

/// An operation of a right side on certain operands, once its attributes are in canonical form.
struct Operation {
  bool absent = false;  // made from an absent operand
  bool folds = false;   // of constants alone
  graph::AttrId attrs{};
  std::size_t operands = 0;               // of those given; the others became attributes
  InlineVector<std::uint8_t, 4> dropped;  // operands among them that became attributes
  graph::TypeList types;                  // of its outputs; empty: not inferred, or never the same twice
};

/// Operations by what decides them: the operation, its attributes, and the types of its operands, with the
/// contents of constants that inference may read. Forgets all of them when there are kMost: sizes that
/// rewrites can make have no end. Of one Tables. One thread.
class OperationMemo {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16;

  Operation* find(const Hash128& key) {
    const auto found = known_.find(key);
    return found == known_.end() ? nullptr : &found->second;
  }
  /// What find() and add() gave before is gone.
  Operation& add(const Hash128& key, const Operation& operation) {
    if (known_.size() >= kMost) known_.clear();
    return known_.insert_or_assign(key, operation).first->second;
  }

 private:
  std::unordered_map<Hash128, Operation> known_;
};

}  // namespace regraft::rules
