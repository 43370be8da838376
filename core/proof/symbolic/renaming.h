#pragma once

// Internal to core/proof: which variables of one sum are those of another.

#include <z3++.h>

#include <set>
#include <utility>
#include <vector>

namespace regraft::proof {

/// Whether one of the constants occurs in it.
bool contains(const z3::expr& e, const std::vector<z3::expr>& constants);

/// What the variables `from` stand for in terms of `to`: each for another one, translated by what depends on
/// no variable; so a bijection of the integers, once it is whole. Keeps references to both lists.
class Renaming {
 public:
  Renaming(const std::vector<z3::expr>& from, const std::vector<z3::expr>& to) : from_(from), to_(to) {}

  /// Learns from two places that are to be equal.
  void learn(const z3::expr& wanted, const z3::expr& held);
  bool whole() const { return learnt_.size() == from_.size(); }
  z3::expr apply(const z3::expr& value) const;
  const std::vector<std::pair<z3::expr, z3::expr>>& learnt() const { return learnt_; }

 private:
  bool known(const z3::expr& variable) const;

  const std::vector<z3::expr>&from_, &to_;
  std::vector<std::pair<z3::expr, z3::expr>> learnt_;
  std::set<std::ptrdiff_t> used_;
};

}
