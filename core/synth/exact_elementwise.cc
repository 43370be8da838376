#include <cmath>

#include "core/graph/evaluate.h"
#include "core/graph/op.h"
#include "core/synth/exact_tensor.h"

namespace regraft::synth {
namespace {

using graph::Attr;
using graph::AttrBlock;
using graph::OpKind;

// How close to a step a rough value may be before the step is called undecided.
constexpr double kStepMargin = 1e-6;

double roughly(OpKind kind, const AttrBlock& attrs, std::initializer_list<double> arguments) {
  std::vector<graph::HostTensor> tensors;
  for (double x : arguments) tensors.push_back({graph::DType::float64, {}, {x}, {}});
  std::vector<const graph::HostTensor*> inputs;
  for (const graph::HostTensor& t : tensors) inputs.push_back(&t);
  const graph::HostTensor out = graph::evaluate_op(kind, attrs, inputs)[0];
  return out.real.empty() ? static_cast<double>(out.integer[0]) : out.real[0];
}

// A function that is not rational: which one it is depends on its attributes too.
std::uint64_t number_of(OpKind kind, const AttrBlock& attrs) {
  Hasher hasher(static_cast<std::uint64_t>(kind));
  for (const auto& [attr, value] : attrs.entries()) {
    hasher.add(static_cast<std::uint64_t>(attr));
    hasher.add(hash_text(graph::to_string(value)));
  }
  return hasher.finish().low;
}

Exact stepped(OpKind kind, const Exact& x) {
  const double twice = 2 * x.rough;
  if (std::isnan(twice) || std::abs(twice - std::round(twice)) < kStepMargin)
    throw Undecided("a value is too close to a step", "exact evaluation", "draw again");
  return Exact::of(roughly(kind, {}, {x.rough}));
}

Exact clipped(const AttrBlock& attrs, ExactInputs inputs, Exact x) {
  const auto bound = [&](Attr attr, std::size_t input) -> std::optional<Exact> {
    if (attrs.has(attr)) return Exact::of(attrs.real(attr));
    return inputs.size() > input && inputs[input] ? std::optional(inputs[input]->values.at(0)) : std::nullopt;
  };
  if (const auto low = bound(Attr::min, 1); low && less(x, *low)) x = *low;
  if (const auto high = bound(Attr::max, 2); high && less(*high, x)) x = *high;
  return x;
}

Exact unary(OpKind kind, const AttrBlock& attrs, const Exact& x) {
  const Exact zero;
  switch (kind) {
    case OpKind::relu:
      return larger(x, zero);
    case OpKind::leaky_relu:
      return less(x, zero) ? x * Exact::of(attrs.real(Attr::alpha)) : x;
    case OpKind::abs:
      return less(x, zero) ? -x : x;
    case OpKind::neg:
      return -x;
    case OpKind::reciprocal:
      return Exact::of(1.0) / x;
    case OpKind::sign:
      return Exact::of(x.residue == 0 ? 0.0 : less(x, zero) ? -1.0 : 1.0);
    case OpKind::floor:
    case OpKind::ceil:
    case OpKind::round:
      return stepped(kind, x);
    case OpKind::logical_not:
      return Exact::of(x.residue == 0 ? 1.0 : 0.0);
    default:
      return oracle(number_of(kind, attrs), {x}, roughly(kind, attrs, {x.rough}));
  }
}

// A small whole power is a product; of others nothing is known.
Exact power(const Exact& a, const Exact& b) {
  constexpr std::int64_t kLargest = 4;
  for (std::int64_t n = 1; n <= kLargest; ++n) {
    if (b.residue != Exact::of(n).residue) continue;
    Exact product = a;
    for (std::int64_t i = 1; i < n; ++i) product = product * a;
    return product;
  }
  return oracle(number_of(OpKind::pow, {}), {a, b}, roughly(OpKind::pow, {}, {a.rough, b.rough}));
}

Exact truth(bool holds) {
  return Exact::of(holds ? 1.0 : 0.0);
}

// Of integers: towards zero.
Exact integer_quotient(const Exact& a, const Exact& b) {
  if (b.residue == 0) throw Undefined("a divisor is zero", "exact evaluation", "draw again");
  return Exact::of(static_cast<std::int64_t>(std::llround(a.rough) / std::llround(b.rough)));
}

Exact binary(OpKind kind, const Exact& a, const Exact& b) {
  switch (kind) {
    case OpKind::add:
    case OpKind::sum:
      return a + b;
    case OpKind::sub:
      return a - b;
    case OpKind::mul:
      return a * b;
    case OpKind::div:
      return a / b;
    case OpKind::pow:
      return power(a, b);
    case OpKind::max:
      return larger(a, b);
    case OpKind::min:
      return less(b, a) ? b : a;
    case OpKind::prelu:
      return less(a, {}) ? a * b : a;
    case OpKind::equal:
      return truth(a.residue == b.residue);
    case OpKind::greater:
      return truth(less(b, a));
    case OpKind::less:
      return truth(less(a, b));
    case OpKind::greater_or_equal:
      return truth(!less(a, b));
    case OpKind::less_or_equal:
      return truth(!less(b, a));
    case OpKind::logical_and:
      return truth(a.residue != 0 && b.residue != 0);
    case OpKind::logical_or:
      return truth(a.residue != 0 || b.residue != 0);
    default:
      return oracle(number_of(kind, {}), {a, b}, roughly(kind, {}, {a.rough, b.rough}));
  }
}

}  // namespace

Exact exact_function(OpKind kind, const Exact& x) {
  return unary(kind, {}, x);
}

ExactTensor exact_elementwise(OpKind kind, const AttrBlock& attrs, ExactInputs inputs, ExactTensor out) {
  if (kind == OpKind::cast) throw Undecided("Cast is not known", "exact evaluation", "");
  if (out.values.empty()) return out;
  const bool one = graph::op_info(kind).max_inputs == 1 || kind == OpKind::clip;
  const bool divides = kind == OpKind::div && !graph::is_float(out.dtype);
  graph::Ints index(out.dims.size(), 0);
  std::size_t i = 0;
  do {
    Exact value = inputs[0]->broadcast_at(index);
    if (kind == OpKind::clip) {
      value = clipped(attrs, inputs, value);
    } else if (kind == OpKind::where) {
      value = inputs[value.residue != 0 ? 1 : 2]->broadcast_at(index);
    } else if (one) {
      value = unary(kind, attrs, value);
    } else {
      for (std::size_t k = 1; k < inputs.size(); ++k)
        value = divides ? integer_quotient(value, inputs[k]->broadcast_at(index))
                        : binary(kind, value, inputs[k]->broadcast_at(index));
    }
    out.values[i++] = value;
  } while (next_index(index, out.dims));
  return out;
}

}  // namespace regraft::synth
