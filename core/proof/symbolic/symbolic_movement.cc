#include <algorithm>

#include "core/proof/symbolic/symbolic_tensor.h"

namespace regraft::proof {
namespace {

using graph::Attr;
using graph::OpKind;
using IndexMap = std::function<Index(const Index&)>;

// The elements of x, found elsewhere.
SymbolicTensor moved(const SymbolicTensor& x, Index dims, const IndexMap& map) {
  SymbolicTensor out;
  out.dims = std::move(dims);
  if (x.at) out.at = [x, map](const Index& index) { return x.at(map(index)); };
  if (x.integer_at) out.integer_at = [x, map](const Index& index) { return x.integer_at(map(index)); };
  return out;
}

std::size_t axis_of(const ProofCase& state, const SymbolicAttrs& attrs, std::size_t rank) {
  const std::int64_t axis = state.literal(attribute(attrs, Attr::axis).items[0]);
  if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) throw IllTyped("an axis that is no dim");
  return static_cast<std::size_t>(axis);
}

SymbolicTensor transpose(const ProofCase& state, const SymbolicAttrs& attrs, const SymbolicTensor& x) {
  std::vector<std::size_t> perm;
  for (const z3::expr& p : attribute(attrs, Attr::perm).items)
    perm.push_back(static_cast<std::size_t>(state.literal(p)));
  std::vector<bool> seen(x.dims.size(), false);
  for (std::size_t p : perm) {
    if (p >= seen.size() || seen[p]) throw IllTyped("no permutation");
    seen[p] = true;
  }
  if (perm.size() != x.dims.size()) throw IllTyped("a permutation of another rank");
  Index dims;
  for (std::size_t p : perm) dims.push_back(x.dims[p]);
  return moved(x, dims, [perm](const Index& index) {
    Index out = index;
    for (std::size_t i = 0; i < perm.size(); ++i) out[perm[i]] = index[i];
    return out;
  });
}

SymbolicTensor reshaped(ProofCase& state, const SymbolicTensor& x, const Index& dims) {
  state.require(product_of(state.context(), x.dims) == product_of(state.context(), dims));
  return moved(x, dims, [&state, from = dims, to = x.dims](const Index& index) {
    return state.same_place(index, from, to);
  });
}

SymbolicTensor reshape(ProofCase& state, OpKind kind, const SymbolicAttrs& attrs, const SymbolicTensor& x) {
  if (kind == OpKind::reshape) return reshaped(state, x, attribute(attrs, Attr::shape).items);
  if (kind == OpKind::flatten) {
    const auto axis = state.literal(attribute(attrs, Attr::axis).items[0]);
    const auto cut = x.dims.begin() + std::min<std::ptrdiff_t>(axis, std::ssize(x.dims));
    return reshaped(state, x,
                    {product_of(state.context(), Index(x.dims.begin(), cut)),
                     product_of(state.context(), Index(cut, x.dims.end()))});
  }
  std::vector<std::int64_t> axes;
  for (const z3::expr& axis : attribute(attrs, Attr::axes).items) axes.push_back(state.literal(axis));
  const auto named = [&](std::size_t d) {
    return std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) != axes.end();
  };
  Index dims;
  if (kind == OpKind::squeeze) {
    for (std::size_t d = 0; d < x.dims.size(); ++d) {
      if (named(d))
        state.require(x.dims[d] == 1);
      else
        dims.push_back(x.dims[d]);
    }
  } else {
    std::size_t next = 0;
    for (std::size_t d = 0; d < x.dims.size() + axes.size(); ++d) {
      if (!named(d) && next == x.dims.size()) throw IllTyped("an axis that is no dim");
      dims.push_back(named(d) ? state.number(1) : x.dims[next++]);
    }
    if (next < x.dims.size()) throw IllTyped("an axis that is named twice");
  }
  return reshaped(state, x, dims);
}

SymbolicTensor concat(ProofCase& state, const SymbolicAttrs& attrs, const SymbolicInputs& in) {
  const std::size_t axis = axis_of(state, attrs, in[0].dims.size());
  SymbolicTensor out;
  out.dims = in[0].dims;
  for (std::size_t i = 1; i < in.size(); ++i) {
    if (in[i].dims.size() != out.dims.size()) throw IllTyped("parts of different ranks");
    for (std::size_t d = 0; d < out.dims.size(); ++d) {
      if (d != axis) state.require(in[i].dims[d] == out.dims[d]);
    }
    out.dims[axis] = out.dims[axis] + in[i].dims[axis];
  }
  out.at = [&state, in, axis](const Index& index) {
    Poly sum;
    z3::expr first = state.number(0);
    for (const SymbolicTensor& part : in) {
      Index i = index;
      i[axis] = (index[axis] - first).simplify();
      const z3::expr last = first + part.dims[axis];
      sum = std::move(sum) + guarded(part.at(i), index[axis] >= first && index[axis] < last);
      first = last;
    }
    return sum;
  };
  return out;
}

// Every step-th place from `first` on, before `last`.
SymbolicTensor part_of(ProofCase& state, const SymbolicTensor& x, std::size_t axis, const z3::expr& first,
                       const z3::expr& last, const z3::expr& step) {
  state.require(first >= 0 && first <= last && last <= x.dims[axis] && step >= 1);
  Index dims = x.dims;
  const bool one = state.follows(step == 1);
  dims[axis] = (one ? last - first : (last - first + step - 1) / step).simplify();
  return moved(x, dims, [axis, first, step, one](const Index& index) {
    Index out = index;
    out[axis] = (one ? index[axis] + first : index[axis] * step + first).simplify();
    return out;
  });
}

std::vector<SymbolicTensor> split(ProofCase& state, const SymbolicAttrs& attrs, const SymbolicTensor& x,
                                  std::size_t outputs) {
  const std::size_t axis = axis_of(state, attrs, x.dims.size());
  const Index& sizes = attribute(attrs, Attr::split).items;
  if (sizes.size() != outputs) throw IllTyped("a split into another number of parts");
  std::vector<SymbolicTensor> out;
  z3::expr first = state.number(0);
  for (const z3::expr& size : sizes) {
    const z3::expr last = (first + size).simplify();
    out.push_back(part_of(state, x, axis, first, last, state.number(1)));
    first = last;
  }
  state.require(first == x.dims[axis]);
  return out;
}

// A bound as the canonical form has it, and so every left side: counted from the end where it is below 0, and
// cut off. On the right it may be anything.
z3::expr within(ProofCase& state, const z3::expr& bound, const z3::expr& dim) {
  if (!state.is_right() || state.follows(bound >= 0 && bound <= dim)) return bound;
  const z3::expr counted = z3::ite(bound < 0, bound + dim, bound), zero = state.number(0);
  return z3::ite(counted < 0, zero, z3::ite(counted > dim, dim, counted));
}

// Along one or more dims.
SymbolicTensor slice(ProofCase& state, const SymbolicAttrs& attrs, SymbolicTensor x) {
  const Index &starts = attribute(attrs, Attr::starts).items, &ends = attribute(attrs, Attr::ends).items,
              &axes = attribute(attrs, Attr::axes).items, &steps = attribute(attrs, Attr::steps).items;
  if (starts.size() != axes.size() || ends.size() != axes.size() || steps.size() != axes.size())
    throw IllTyped("a slice whose lists differ in length");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(state.literal(axes[i]));
    if (axis >= x.dims.size()) throw IllTyped("an axis that is no dim");
    const z3::expr first = within(state, starts[i], x.dims[axis]), end = within(state, ends[i], x.dims[axis]);
    const bool ordered = !state.is_right() || state.follows(first <= end);
    x = part_of(state, x, axis, first, ordered ? end : z3::ite(end < first, first, end), steps[i]);
  }
  return x;
}

SymbolicTensor gather(ProofCase& state, const SymbolicAttrs& attrs, const SymbolicTensor& x,
                      const SymbolicTensor& indices) {
  const std::size_t axis = axis_of(state, attrs, x.dims.size());
  if (!indices.integer_at) throw IllTyped("indices that are no integers");
  const std::size_t rank = indices.dims.size();
  Index dims(x.dims.begin(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.dims.end());
  const z3::expr dim = x.dims[axis];
  return moved(x, dims, [&state, axis, rank, indices, dim, given = !state.is_right()](const Index& index) {
    const auto begin = index.begin() + static_cast<std::ptrdiff_t>(axis);
    Index out(index.begin(), begin);
    const z3::expr held = indices.integer_at(Index(begin, begin + static_cast<std::ptrdiff_t>(rank)));
    out.push_back(z3::ite(held < 0, held + dim, held));  // from the end where negative
    if (given) state.assume(out.back() >= 0 && out.back() < dim);
    out.insert(out.end(), begin + static_cast<std::ptrdiff_t>(rank), index.end());
    return out;
  });
}

}  // namespace

std::vector<SymbolicTensor> symbolic_movement(ProofCase& state, OpKind kind, const SymbolicAttrs& attrs,
                                              const SymbolicInputs& in, std::size_t outputs) {
  switch (kind) {
    case OpKind::transpose:
      return {transpose(state, attrs, in[0])};
    case OpKind::reshape:
    case OpKind::flatten:
    case OpKind::squeeze:
    case OpKind::unsqueeze:
      return {reshape(state, kind, attrs, in[0])};
    case OpKind::concat:
      return {concat(state, attrs, in)};
    case OpKind::split:
      return split(state, attrs, in[0], outputs);
    case OpKind::slice:
      return {slice(state, attrs, in[0])};
    default:  // no others are followed
      return {gather(state, attrs, in[0], in[1])};
  }
}

}
