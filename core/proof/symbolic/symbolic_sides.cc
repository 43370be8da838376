#include "core/proof/symbolic/symbolic_sides.h"

#include "core/proof/symbolic/left_side.h"
#include "core/proof/symbolic/right_side.h"

namespace regraft::proof {

std::optional<SymbolicSides> elaborate(const rules::CompiledRule& rule, ProofCase& state) {
  SymbolicBindings bindings{SymbolicFrame(rule.frames[0]),
                            std::vector<std::vector<SymbolicFrame>>(rule.member_sets.size())};
  try {
    if (!LeftSide(rule, state, bindings).run()) return std::nullopt;
    state.begin_right();
    if (!RightSide(rule, state, bindings).run()) return std::nullopt;
  } catch (const IllTyped&) {
    return std::nullopt;  // no such graph on the left, no match on the right
  }
  SymbolicSides sides;
  for (const rules::Replacement& r : rule.replacements) {
    const std::size_t count = r.before.member_set < 0 ? 1 : bindings.count(r.before.member_set);
    for (std::size_t member = 0; member < count; ++member) {
      const auto at = [&](rules::Slot slot) {
        return bindings.tensor(slot, slot.member_set < 0 ? 0 : member).value();
      };
      sides.replaced.emplace_back(at(r.before), at(r.after));
    }
  }
  return sides;
}

}
