#pragma once

// Internal to core/proof: the prover's state for one case of a rule, and tensors whose dims are unknown.

#include <deque>
#include <map>
#include <optional>
#include <set>

#include "core/graph/op.h"
#include "core/proof/smt/smt_text.h"
#include "core/proof/symbolic/symbolic_value.h"
#include "core/rules/examples/choices.h"

namespace regraft::proof {

/// What the guards say of the elements of a leaf.
struct LeafFacts {
  bool same_everywhere = false;  // scalar(c)
  std::optional<Poly> value;     // value(c) == 0.5
};

struct SymbolicTensor {
  bool present = true;
  Index dims;
  std::function<Poly(const Index&)> at;
  std::function<z3::expr(const Index&)> integer_at;  // tensors of indices
  LeafFacts* facts = nullptr;

  static SymbolicTensor absent() { return {false, {}, {}, {}, nullptr}; }
};

/// An attribute or what an expression of the rule language yields.
struct SymbolicQuantity {
  enum class Kind : std::uint8_t { none, boolean, integer, real, list, text };
  Kind kind = Kind::none;
  std::vector<z3::expr> items;  // boolean, integer: one
  Poly real;
  std::optional<double> literal;  // real: where it is a number
  std::string text;
};

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

using SymbolicAttrs = std::map<graph::Attr, SymbolicQuantity>;
using SymbolicInputs = std::vector<SymbolicTensor>;

/// The outputs of an operation: its meaning in ONNX. `generic`: the name of an elementwise function about
/// which nothing is known, else empty. Throws Unprovable for ops that are not followed.
std::vector<SymbolicTensor> apply_symbolically(ProofCase& state, graph::OpKind kind,
                                               const std::string& generic, const SymbolicAttrs& attrs,
                                               const SymbolicInputs& inputs, std::size_t outputs);

// Its parts.
SymbolicTensor symbolic_elementwise(ProofCase& state, graph::OpKind kind, const std::string& generic,
                                    const SymbolicAttrs& attrs, const SymbolicInputs& inputs);
SymbolicTensor symbolic_linear(ProofCase& state, graph::OpKind kind, const SymbolicAttrs& attrs,
                               const SymbolicInputs& inputs);
SymbolicTensor symbolic_normalisation(ProofCase& state, graph::OpKind kind, const SymbolicAttrs& attrs,
                                      const SymbolicInputs& inputs);
std::vector<SymbolicTensor> symbolic_movement(ProofCase& state, graph::OpKind kind,
                                              const SymbolicAttrs& attrs, const SymbolicInputs& inputs,
                                              std::size_t outputs);

/// Dims that several shapes are broadcast to, and for each shape an index into it.
struct Broadcast {
  Index dims;
  std::vector<std::vector<z3::expr>> repeated;  // by operand, by its own dims: whether it is repeated
  Index index_of(std::size_t operand, const Index& index) const;
};
Broadcast broadcast(ProofCase& state, const std::vector<Index>& shapes);

z3::expr product_of(z3::context& context, const Index& dims);
const SymbolicQuantity& attribute(const SymbolicAttrs& attrs, graph::Attr attr);
/// The real value of an attribute such as alpha.
Poly real_attribute(const SymbolicAttrs& attrs, graph::Attr attr);

}  // namespace regraft::proof
