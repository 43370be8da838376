#pragma once

// Internal to core/proof: the names and expressions of a rule in one case.

#include <optional>
#include <vector>

#include "core/proof/symbolic/symbolic_tensor.h"
#include "core/rules/compile/compiled_rule.h"

namespace regraft::proof {

/// What an op variable stands for.
struct OpCase {
  graph::OpKind kind = graph::OpKind::opaque;
  std::string generic;  // of a class of elementwise ops: a function about which nothing is known
  SymbolicAttrs attrs;
};

struct SymbolicFrame {
  std::vector<std::optional<SymbolicTensor>> tensors;
  std::vector<SymbolicQuantity> quantities;
  std::vector<std::optional<OpCase>> ops;

  explicit SymbolicFrame(const rules::FrameSize& size)
      : tensors(size.tensors), quantities(size.quantities), ops(size.ops) {}
};

/// The names of a rule in one case.
struct SymbolicBindings {
  SymbolicFrame plain;
  std::vector<std::vector<SymbolicFrame>> members;  // by member set

  SymbolicFrame& frame(std::int16_t member_set, std::size_t member) {
    return member_set < 0 ? plain : members[static_cast<std::size_t>(member_set)][member];
  }
  std::optional<SymbolicTensor>& tensor(rules::Slot slot, std::size_t member) {
    return frame(slot.member_set, member).tensors[slot.index];
  }
  SymbolicQuantity& quantity(rules::Slot slot, std::size_t member) {
    return frame(slot.member_set, member).quantities[slot.index];
  }
  std::size_t count(std::int16_t member_set) const {
    return members[static_cast<std::size_t>(member_set)].size();
  }
};

struct SymbolicScope {
  ProofCase& state;
  SymbolicBindings& bindings;
  std::int16_t member_set = -1;
  std::size_t member = 0;
};

/// An expression of the rule language. Throws Unprovable where it cannot be followed; `none` where it has no
/// value. The matcher knows less than Z3. Of a dim without a number it sees only whether it is the same dim
/// as another one. What it cannot compute (on such dims, or past 64 bits) has no value; "and", "or" and the
/// condition of a comprehension take that for false. So the matcher may say false where it is true.
SymbolicQuantity evaluate(const rules::Code& code, const SymbolicScope& scope);
/// The same for a guard that is assumed to be true: no more than what follows from that.
SymbolicQuantity assumed(const rules::Code& code, const SymbolicScope& scope);
SymbolicQuantity symbolic_call(const rules::Code& code, const SymbolicScope& scope);

/// Where the matcher sees that two integers are equal. Where it does not they may be equal all the same.
z3::expr seen_equal(const z3::expr& a, const z3::expr& b, const SymbolicScope& scope);

// Makers.
SymbolicQuantity quantity_of(const z3::expr& integer);
SymbolicQuantity quantity_of(Index list);
SymbolicQuantity truth_of(const z3::expr& condition);
SymbolicQuantity real_of(double value);
SymbolicQuantity quantity_of(ProofCase& state, const graph::AttrValue& value);

}
