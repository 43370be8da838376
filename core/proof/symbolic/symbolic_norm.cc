#include "core/proof/symbolic/symbolic_tensor.h"

namespace regraft::proof {
namespace {

using graph::Attr;
using graph::OpKind;

// One over a positive integer.
Poly one_over(const z3::expr& count) {
  return Poly::atom({"one_over", {count.simplify()}, {}});
}

Poly one_over_root(const Poly& x) {
  return Poly::inverse(Poly::atom({"Sqrt", {}, {x}}));
}

// Sums body over all places of the dims from `first` on.
Poly sum_of_rest(ProofCase& state, const Index& dims, std::size_t first, const Index& index,
                 const std::function<Poly(const Index&)>& body) {
  if (first == dims.size()) return body(index);
  return sum_over(state.context(), dims[first], [&](const z3::expr& k) {
    Index next = index;
    next[first] = k;
    return sum_of_rest(state, dims, first + 1, next, body);
  });
}

SymbolicTensor batch_norm(const SymbolicAttrs& attrs, const SymbolicInputs& in) {
  const Poly epsilon = real_attribute(attrs, Attr::epsilon);
  SymbolicTensor out;
  out.dims = in[0].dims;
  out.at = [in, epsilon](const Index& index) {
    const auto channel = [&](std::size_t i) { return in[i].at({index[1]}); };
    return (in[0].at(index) + negate(channel(3))) * (channel(1) * one_over_root(channel(4) + epsilon)) +
           channel(2);
  };
  return out;
}

SymbolicTensor layer_norm(ProofCase& state, const SymbolicAttrs& attrs, const SymbolicInputs& in) {
  const auto axis = static_cast<std::size_t>(state.literal(attribute(attrs, Attr::axis).items[0]));
  const Poly epsilon = real_attribute(attrs, Attr::epsilon);
  const SymbolicTensor& x = in[0];
  const bool shifted = in.size() > 2 && in[2].present;
  if (axis >= x.dims.size()) throw IllTyped("an axis that is no dim");
  std::vector<Index> shapes = {x.dims, in[1].dims};
  if (shifted) shapes.push_back(in[2].dims);
  const Broadcast shared = broadcast(state, shapes);
  if (shared.dims.size() != x.dims.size()) throw IllTyped("a scale of larger rank");
  for (std::size_t d = 0; d < x.dims.size(); ++d) state.require(shared.dims[d] == x.dims[d]);
  SymbolicTensor out;
  out.dims = x.dims;
  out.at = [&state, in, x, axis, epsilon, shifted, shared](const Index& index) {
    const Poly part = one_over(
        product_of(state.context(), Index(x.dims.begin() + static_cast<std::ptrdiff_t>(axis), x.dims.end())));
    const auto mean = [&](const std::function<Poly(const Index&)>& of) {
      return part * sum_of_rest(state, x.dims, axis, index, of);
    };
    const Poly centre = mean(x.at);
    const Poly variance = mean([&](const Index& i) {
      const Poly difference = x.at(i) + negate(centre);
      return difference * difference;
    });
    const Poly value = (x.at(index) + negate(centre)) * one_over_root(variance + epsilon) *
                       in[1].at(shared.index_of(1, index));
    return shifted ? value + in[2].at(shared.index_of(2, index)) : value;
  };
  return out;
}

SymbolicTensor softmax(ProofCase& state, const SymbolicAttrs& attrs, const SymbolicInputs& in) {
  const auto axis = static_cast<std::size_t>(state.literal(attribute(attrs, Attr::axis).items[0]));
  const SymbolicTensor& x = in[0];
  if (axis >= x.dims.size()) throw IllTyped("an axis that is no dim");
  SymbolicTensor out;
  out.dims = x.dims;
  out.at = [&state, x, axis](const Index& index) {
    const auto power = [&](const Index& i) { return Poly::atom({"Exp", {}, {x.at(i)}}); };
    return power(index) * Poly::inverse(sum_over(state.context(), x.dims[axis], [&](const z3::expr& k) {
             Index i = index;
             i[axis] = k;
             return power(i);
           }));
  };
  return out;
}

SymbolicTensor reduce(ProofCase& state, const std::vector<bool>& reduced, bool keep, bool mean,
                      const SymbolicTensor& x) {
  SymbolicTensor out;
  z3::expr count = state.number(1);
  for (std::size_t d = 0; d < x.dims.size(); ++d) {
    if (reduced[d]) count = count * x.dims[d];
    if (!reduced[d]) out.dims.push_back(x.dims[d]);
    if (reduced[d] && keep) out.dims.push_back(state.number(1));
  }
  out.at = [&state, x, reduced, keep, mean, count](const Index& index) {
    const std::function<Poly(std::size_t, std::size_t, Index)> sum = [&](std::size_t d, std::size_t o,
                                                                         Index at) -> Poly {
      if (d == x.dims.size()) return x.at(at);
      if (!reduced[d]) {
        at.push_back(index[o]);
        return sum(d + 1, o + 1, at);
      }
      return sum_over(state.context(), x.dims[d], [&](const z3::expr& k) {
        Index next = at;
        next.push_back(k);
        return sum(d + 1, keep ? o + 1 : o, next);
      });
    };
    return mean ? one_over(count) * sum(0, 0, {}) : sum(0, 0, {});
  };
  return out;
}

}  // namespace

SymbolicTensor symbolic_normalisation(ProofCase& state, OpKind kind, const SymbolicAttrs& attrs,
                                      const SymbolicInputs& in) {
  switch (kind) {
    case OpKind::batch_norm:
      for (std::size_t i = 1; i < 5; ++i) {
        if (in[0].dims.size() < 2 || in[i].dims.size() != 1)
          throw IllTyped("a normalisation of another rank");
        state.require(in[i].dims[0] == in[0].dims[1]);
      }
      return batch_norm(attrs, in);
    case OpKind::layer_norm:
      return layer_norm(state, attrs, in);
    case OpKind::softmax:
      return softmax(state, attrs, in);
    case OpKind::global_average_pool: {
      if (in[0].dims.size() < 3) throw IllTyped("a pool of another rank");
      std::vector<bool> reduced(in[0].dims.size(), true);
      reduced[0] = reduced[1] = false;
      return reduce(state, reduced, true, true, in[0]);
    }
    default: {
      std::vector<bool> reduced(in[0].dims.size(), false);
      for (const z3::expr& axis : attribute(attrs, Attr::axes).items)
        reduced.at(static_cast<std::size_t>(state.literal(axis))) = true;
      const bool keep = state.literal(attribute(attrs, Attr::keepdims).items[0]) != 0;
      return reduce(state, reduced, keep, kind == OpKind::reduce_mean, in[0]);
    }
  }
}

}
