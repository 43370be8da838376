#pragma once

// Internal to core/proof: the prover's state for one case of a rule.

#include <deque>
#include <map>
#include <optional>
#include <set>

#include "core/proof/smt/smt_text.h"
#include "core/proof/symbolic/symbolic_value.h"
#include "core/rules/examples/choices.h"

namespace regraft::proof {

/// What the guards say of the elements of a leaf.
struct LeafFacts {
  bool same_everywhere = false;  // scalar(c)
  std::optional<Poly> value;     // value(c) == 0.5
};

z3::expr product_of(z3::context& context, const Index& dims);

/// One case of a rule: ranks, sizes of sets, axes and permutations are chosen, dims and all other integers
/// are Z3's. What the left side's types and guards demand is assumed; what the right side's types demand is
/// to be proved. Where the rule's meaning depends on something that the assumptions leave open, the case is
/// split in two.
class ProofCase {
 public:
  ProofCase(z3::context& context, rules::Choices& choices, std::size_t most_rank);

  z3::context& context() { return context_; }
  std::size_t most_rank() const { return most_rank_; }
  rules::Choices& choices() { return choices_; }
  z3::expr number(std::int64_t value) { return context_.int_val(value); }
  z3::expr fresh(const std::string& name);
  /// The dim of a leaf: the matcher may not know its number.
  z3::expr fresh_dim(const std::string& name);
  /// Whether the matcher knows the number: it does not depend on dims.
  bool concrete(const z3::expr& number) const;
  /// What may hold or not, whatever is assumed: whether the matcher sees something.
  z3::expr maybe();
  LeafFacts* facts() { return &facts_.emplace_back(); }

  /// `axiom`: what is taken for granted here, in words; empty: what the rule says.
  void assume(const z3::expr& fact, const std::string& axiom = {});
  bool possible();
  /// What Z3 has done so far in this context, in its own units, which are the same on every machine.
  std::uint64_t work_of_z3() const;
  /// Whether it follows from what is assumed; "unknown" is no.
  bool follows(const z3::expr& claim);
  /// Whether "unknown" was an answer.
  bool unsure() const { return unsure_; }
  /// Whether it holds in this case: it follows, or its negation does, or the case is split.
  bool decide(const z3::expr& condition);
  /// A demand of a type: assumed on the left side, to be proved on the right.
  void require(const z3::expr& condition);
  void begin_right() { right_ = true; }
  bool is_right() const { return right_; }
  const std::vector<z3::expr>& obligations() const { return obligations_; }
  const std::vector<SmtAssertion>& assumptions() const { return assumptions_; }

  /// The number that an integer must be, where it is a literal. Throws Unprovable.
  std::int64_t literal(const z3::expr& e) const;
  /// A place in a tensor of dims `to` that has the same row-major number as `index` in dims `from`; both
  /// tensors have equally many elements.
  Index same_place(const Index& index, const Index& from, const Index& to);

 private:
  z3::expr number_of(const Index& index, const Index& dims);
  Index split_number(const z3::expr& number, const Index& dims, const z3::expr& inside);

  z3::context& context_;
  rules::Choices& choices_;
  std::size_t most_rank_;
  z3::solver solver_;
  bool unsure_ = false;
  std::vector<SmtAssertion> assumptions_;
  std::vector<z3::expr> obligations_;
  std::deque<LeafFacts> facts_;
  std::set<std::string> dims_;                             // names
  std::map<std::string, Index> places_;                    // numbers split before, by number and dims
  std::map<std::string, std::pair<Index, Index>> merged_;  // numbers made of an index and dims
  bool right_ = false;
  int names_ = 0;
};

}
