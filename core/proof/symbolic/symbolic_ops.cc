#include <algorithm>

#include "core/proof/symbolic/interpretation.h"
#include "core/proof/symbolic/symbolic_tensor.h"

namespace regraft::proof {
namespace {

using graph::Attr;
using graph::OpKind;

Poly oracle(const std::string& name, std::vector<Poly> args) {
  return Poly::atom({name, {}, std::move(args)});
}

Poly elementwise_value(OpKind kind, const SymbolicAttrs& attrs, std::vector<Poly> args) {
  const std::string name(graph::op_info(kind).name);
  switch (kind) {
    case OpKind::add:
    case OpKind::sum: {
      Poly out;
      for (const Poly& arg : args) out = std::move(out) + arg;
      return out;
    }
    case OpKind::sub:
      return args[0] + negate(args[1]);
    case OpKind::mul:
      return args[0] * args[1];
    case OpKind::div:
      return args[0] * Poly::inverse(args[1]);
    case OpKind::neg:
      return negate(args[0]);
    case OpKind::reciprocal:
      return Poly::inverse(args[0]);
    case OpKind::identity:
      return args[0];
    case OpKind::relu: {
      const auto& terms = args[0].terms;
      const bool again = terms.size() == 1 && terms[0].factors.size() == 1 &&
                         terms[0].factors[0].name == name && terms[0].bounds.empty() &&
                         terms[0].guards.empty() && terms[0].numerator == 1 && terms[0].denominator == 1;
      if (!again) return oracle(name, std::move(args));
      Poly out = args[0];
      out.written = Written::atom(name, {}, {out.written});
      return out;
    }
    default:
      for (const auto& [attr, value] : attrs) {
        if (value.kind != SymbolicQuantity::Kind::real) throw Unprovable("attributes of " + name);
        args.push_back(value.real);
      }
      return oracle(name, std::move(args));
  }
}

Poly matmul_at(ProofCase& state, const SymbolicTensor& a, const SymbolicTensor& b, const Broadcast& batch,
               const Index& index) {
  const bool row = a.dims.size() > 1, column = b.dims.size() > 1;
  const Index outer(index.begin(), index.end() - ((row ? 1 : 0) + (column ? 1 : 0)));
  Index ia = row ? batch.index_of(0, outer) : Index{}, ib = column ? batch.index_of(1, outer) : Index{};
  if (row) ia.push_back(index[index.size() - (column ? 2 : 1)]);
  return sum_over(state.context(), a.dims.back(), [&](const z3::expr& k) {
    Index at_a = ia, at_b = ib;
    at_a.push_back(k);
    at_b.push_back(k);
    if (column) at_b.push_back(index.back());
    return a.at(at_a) * b.at(at_b);
  });
}

SymbolicTensor matmul(ProofCase& state, const SymbolicTensor& a, const SymbolicTensor& b) {
  if (a.dims.empty() || b.dims.empty()) throw IllTyped("a product of scalars");
  const bool row = a.dims.size() > 1, column = b.dims.size() > 1;
  state.require(a.dims.back() == b.dims[column ? b.dims.size() - 2 : 0]);
  const auto outer = [](const Index& dims) {
    return Index(dims.begin(), dims.end() - std::min<std::ptrdiff_t>(2, std::ssize(dims)));
  };
  const Broadcast batch = broadcast(state, {outer(a.dims), outer(b.dims)});
  SymbolicTensor out;
  out.dims = batch.dims;
  if (row) out.dims.push_back(a.dims[a.dims.size() - 2]);
  if (column) out.dims.push_back(b.dims.back());
  out.at = [&state, a, b, batch](const Index& index) { return matmul_at(state, a, b, batch, index); };
  return out;
}

SymbolicTensor gemm(ProofCase& state, const SymbolicAttrs& attrs, const SymbolicInputs& in) {
  const bool ta = state.literal(attribute(attrs, Attr::trans_a).items[0]) != 0;
  const bool tb = state.literal(attribute(attrs, Attr::trans_b).items[0]) != 0;
  const Poly alpha = real_attribute(attrs, Attr::alpha), beta = real_attribute(attrs, Attr::beta);
  const SymbolicTensor &a = in[0], &b = in[1], c = in.size() > 2 ? in[2] : SymbolicTensor::absent();
  if (a.dims.size() != 2 || b.dims.size() != 2) throw IllTyped("Gemm of other ranks than 2");
  state.require(a.dims[ta ? 0 : 1] == b.dims[tb ? 1 : 0]);
  SymbolicTensor out;
  out.dims = {a.dims[ta ? 1 : 0], b.dims[tb ? 0 : 1]};
  Broadcast shared;
  if (c.present) {
    if (c.dims.size() > 2) throw IllTyped("Gemm adds what has more than two dims");
    shared = broadcast(state, {out.dims, c.dims});
    for (std::size_t d = 0; d < 2; ++d) state.require(shared.dims[d] == out.dims[d]);
  }
  out.at = [&state, a, b, c, ta, tb, alpha, beta, shared](const Index& i) {
    const Poly sum = sum_over(state.context(), a.dims[ta ? 0 : 1], [&](const z3::expr& k) {
      return a.at(ta ? Index{k, i[0]} : Index{i[0], k}) * b.at(tb ? Index{i[1], k} : Index{k, i[1]});
    });
    return c.present ? alpha * sum + beta * c.at(shared.index_of(1, i)) : alpha * sum;
  };
  return out;
}

struct Window {
  Index size, stride, pads, dilation;
};

Poly conv_at(ProofCase& state, const SymbolicInputs& in, const Window& window, const z3::expr& groups,
             const Index& o) {
  const SymbolicTensor &x = in[0], &w = in[1];
  const bool one = groups.simplify().to_string() == "1";
  const z3::expr first = one ? state.number(0) : (o[1] / (w.dims[0] / groups)) * w.dims[1];
  const std::function<Poly(std::size_t, Index, Index, const z3::expr&)> taps =
      [&](std::size_t d, const Index& ix, const Index& iw, const z3::expr& inside) -> Poly {
    if (d == window.size.size()) return guarded(x.at(ix) * w.at(iw), inside);
    return sum_over(state.context(), window.size[d], [&](const z3::expr& k) {
      Index jx = ix, jw = iw;
      const z3::expr at = o[d + 2] * window.stride[d] + k * window.dilation[d] - window.pads[d];
      jx.push_back(at);
      jw.push_back(k);
      return taps(d + 1, jx, jw, inside && at >= 0 && at < x.dims[d + 2]);
    });
  };
  Poly sum = sum_over(state.context(), w.dims[1], [&](const z3::expr& c) {
    return taps(0, {o[0], first + c}, {o[1], c}, state.context().bool_val(true));
  });
  return in.size() > 2 && in[2].present ? std::move(sum) + in[2].at({o[1]}) : sum;
}

SymbolicTensor conv(ProofCase& state, const SymbolicAttrs& attrs, const SymbolicInputs& in) {
  const Window window{attribute(attrs, Attr::kernel_shape).items, attribute(attrs, Attr::strides).items,
                      attribute(attrs, Attr::pads).items, attribute(attrs, Attr::dilations).items};
  const z3::expr groups = attribute(attrs, Attr::group).items[0];
  const SymbolicTensor &x = in[0], &w = in[1];
  const std::size_t spatial = x.dims.size() - 2;
  if (x.dims.size() < 3 || w.dims.size() != x.dims.size() || window.size.size() != spatial ||
      window.stride.size() != spatial || window.pads.size() != 2 * spatial ||
      window.dilation.size() != spatial)
    throw IllTyped("a convolution of another rank");
  state.require(groups >= 1 && x.dims[1] == w.dims[1] * groups && z3::mod(w.dims[0], groups) == 0);
  if (in.size() > 2 && in[2].present) {
    if (in[2].dims.size() != 1) throw IllTyped("a bias of another rank than 1");
    state.require(in[2].dims[0] == w.dims[0]);
  }
  SymbolicTensor out;
  out.dims = {x.dims[0], w.dims[0]};
  for (std::size_t d = 0; d < spatial; ++d) {
    state.require(window.size[d] == w.dims[d + 2] && window.stride[d] >= 1);
    const z3::expr room = x.dims[d + 2] + window.pads[d] + window.pads[d + spatial] -
                          window.dilation[d] * (window.size[d] - 1) - 1;
    state.require(room >= 0);
    out.dims.push_back(room / window.stride[d] + 1);
  }
  out.at = [&state, in, window, groups](const Index& o) { return conv_at(state, in, window, groups, o); };
  return out;
}

}  // namespace

SymbolicTensor symbolic_elementwise(ProofCase& state, OpKind kind, const std::string& generic,
                                    const SymbolicAttrs& attrs, const SymbolicInputs& inputs) {
  std::vector<Index> shapes;
  for (const SymbolicTensor& t : inputs) {
    if (!t.present) throw IllTyped("an elementwise operation with an absent operand");
    shapes.push_back(t.dims);
  }
  const Broadcast shared = broadcast(state, shapes);
  SymbolicTensor out;
  out.dims = shared.dims;
  out.at = [kind, generic, attrs, inputs, shared](const Index& index) {
    std::vector<Poly> args;
    for (std::size_t i = 0; i < inputs.size(); ++i) args.push_back(inputs[i].at(shared.index_of(i, index)));
    return generic.empty() ? elementwise_value(kind, attrs, std::move(args))
                           : oracle(generic, std::move(args));
  };
  return out;
}

SymbolicTensor symbolic_linear(ProofCase& state, OpKind kind, const SymbolicAttrs& attrs,
                               const SymbolicInputs& inputs) {
  if (kind == OpKind::matmul) return matmul(state, inputs[0], inputs[1]);
  return kind == OpKind::gemm ? gemm(state, attrs, inputs) : conv(state, attrs, inputs);
}

std::vector<SymbolicTensor> apply_symbolically(ProofCase& state, OpKind kind, const std::string& generic,
                                               const SymbolicAttrs& attrs, const SymbolicInputs& inputs,
                                               std::size_t outputs) {
  const graph::OpInfo& op = graph::op_info(kind);
  for (std::size_t i = 0; i < std::min<std::size_t>(op.min_inputs, inputs.size()); ++i) {
    if (!inputs[i].present) throw IllTyped("an operation on an absent operand");
  }
  if (generic.empty() && interpretation(kind) == Interpretation::unsupported)
    throw Unprovable(std::string(op.name) + " is not followed by the prover");
  if (!generic.empty() || op.is(graph::kElementwise))
    return {symbolic_elementwise(state, kind, generic, attrs, inputs)};
  switch (kind) {
    case OpKind::matmul:
    case OpKind::gemm:
    case OpKind::conv:
      return {symbolic_linear(state, kind, attrs, inputs)};
    case OpKind::batch_norm:
    case OpKind::layer_norm:
    case OpKind::softmax:
    case OpKind::reduce_mean:
    case OpKind::reduce_sum:
    case OpKind::global_average_pool:
      return {symbolic_normalisation(state, kind, attrs, inputs)};
    default:
      return symbolic_movement(state, kind, attrs, inputs, outputs);
  }
}

}
