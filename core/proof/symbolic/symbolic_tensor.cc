#include "core/proof/symbolic/symbolic_tensor.h"

namespace regraft::proof {

const SymbolicQuantity& attribute(const SymbolicAttrs& attrs, graph::Attr attr) {
  const auto found = attrs.find(attr);
  if (found == attrs.end()) throw Unprovable("no attribute " + std::string(graph::attr_name(attr)));
  return found->second;
}

Poly real_attribute(const SymbolicAttrs& attrs, graph::Attr attr) {
  const SymbolicQuantity& q = attribute(attrs, attr);
  if (q.kind != SymbolicQuantity::Kind::real) throw Unprovable("a real attribute is not known");
  return q.real;
}

Broadcast broadcast(ProofCase& state, const std::vector<Index>& shapes) {
  Broadcast out;
  for (const Index& shape : shapes) {
    if (shape.size() > out.dims.size())
      out.dims.insert(out.dims.begin(), shape.size() - out.dims.size(), state.number(1));
    const std::size_t shift = out.dims.size() - shape.size();
    for (std::size_t d = 0; d < shape.size(); ++d) {
      z3::expr& held = out.dims[d + shift];
      if (state.follows(held == 1)) {
        held = shape[d];
      } else if (!state.follows(held == shape[d]) && !state.follows(shape[d] == 1)) {
        state.require(held == shape[d] || held == 1 || shape[d] == 1);
        held = z3::ite(held == 1, shape[d], held);
      }
    }
  }
  for (const Index& shape : shapes) {
    std::vector<z3::expr>& repeated = out.repeated.emplace_back();
    const std::size_t shift = out.dims.size() - shape.size();
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const bool whole = state.follows(shape[d] == out.dims[d + shift]);
      repeated.push_back(whole ? state.context().bool_val(false) : (shape[d] == 1).simplify());
    }
  }
  return out;
}

Index Broadcast::index_of(std::size_t operand, const Index& index) const {
  Index out;
  const std::size_t shift = index.size() - repeated[operand].size();
  for (std::size_t d = 0; d < repeated[operand].size(); ++d) {
    const z3::expr& at = index[d + shift];
    out.push_back(z3::ite(repeated[operand][d], at.ctx().int_val(0), at).simplify());
  }
  return out;
}

}
