#include "core/proof/symbolic/renaming.h"

#include <algorithm>

namespace regraft::proof {

bool contains(const z3::expr& e, const std::vector<z3::expr>& constants) {
  if (std::any_of(constants.begin(), constants.end(), [&](const z3::expr& v) { return z3::eq(e, v); }))
    return true;
  if (!e.is_app()) return false;
  for (unsigned i = 0; i < e.num_args(); ++i) {
    if (contains(e.arg(i), constants)) return true;
  }
  return false;
}

void Renaming::learn(const z3::expr& wanted, const z3::expr& held) {
  for (const z3::expr& variable : from_) {
    if (known(variable) || !contains(held, {variable})) continue;
    // held = variable + rest
    const z3::expr rest = (held - variable).simplify();
    if (contains(rest, from_)) continue;
    const z3::expr value = (wanted - rest).simplify();
    const auto target = std::find_if(
        to_.begin(), to_.end(), [&](const z3::expr& t) { return !contains((value - t).simplify(), to_); });
    if (target == to_.end() || used_.contains(target - to_.begin())) continue;
    used_.insert(target - to_.begin());
    learnt_.emplace_back(variable, value);
    return;
  }
}

bool Renaming::known(const z3::expr& variable) const {
  return std::any_of(learnt_.begin(), learnt_.end(),
                     [&](const auto& l) { return z3::eq(l.first, variable); });
}

z3::expr Renaming::apply(const z3::expr& value) const {
  z3::expr_vector from(value.ctx()), to(value.ctx());
  for (const auto& [variable, image] : learnt_) {
    from.push_back(variable);
    to.push_back(image);
  }
  z3::expr e = value;
  return e.substitute(from, to);
}

}
