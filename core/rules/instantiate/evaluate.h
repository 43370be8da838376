#pragma once

// Internal to core/rules: what the evaluation of expressions and of guards share.

#include "core/rules/instantiate/bindings.h"
#include "core/rules/lang/rule_error.h"

namespace regraft::rules {

/// The value; `none` where it cannot be computed. Throws RuleError at the place in the rule's file where the
/// expression takes more work than any rule has use for.
Quantity evaluate(const Code& code, const Scope& scope);

inline constexpr std::size_t kMostWork = 1 << 21;  // several operations on each element of the longest range

[[noreturn]] void fail_of_work(const Code& code, const Scope& scope);

/// What the expression at hand has taken: operations, and elements of lists that are made or gone through.
inline void spend(const Code& code, const Scope& scope, std::size_t work) {
  scope.bindings.work += work;
  if (scope.bindings.work > kMostWork) fail_of_work(code, scope);
}

inline std::size_t member_of(Slot slot, const Scope& scope) {
  return slot.member_set == scope.member_set ? scope.member : 0;
}

/// The first member's value, asked for from outside of a set that may have none.
inline bool without_member(Slot slot, const Scope& scope) {
  return slot.member_set >= 0 && slot.member_set != scope.member_set &&
         scope.bindings.count(slot.member_set) == 0;
}

inline Tensor& tensor_at(Slot slot, const Scope& scope) {
  return scope.bindings.tensor(slot, member_of(slot, scope));
}

/// The value, counted as work and not.
Quantity value_of(const Code& code, const Scope& scope);
Quantity computed(const Code& code, const Scope& scope);
/// The value, in place where it stands somewhere already.
const Quantity& seen(const Code& code, const Scope& scope, Quantity& made);
Quantity compare(const std::string& op, const Quantity& a, const Quantity& b);

}
