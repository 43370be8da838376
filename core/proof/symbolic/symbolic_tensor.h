#pragma once

// Internal to core/proof: tensors whose dims are unknown.

#include <map>
#include <optional>

#include "core/graph/op.h"
#include "core/proof/symbolic/proof_case.h"

namespace regraft::proof {

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

const SymbolicQuantity& attribute(const SymbolicAttrs& attrs, graph::Attr attr);
/// The real value of an attribute such as alpha.
Poly real_attribute(const SymbolicAttrs& attrs, graph::Attr attr);

}
