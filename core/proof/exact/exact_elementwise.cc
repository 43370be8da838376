#include <cmath>
#include <limits>
#include <optional>

#include "core/graph/evaluate.h"
#include "core/graph/op.h"
#include "core/proof/exact/exact_tensor.h"

namespace regraft::proof {
namespace {

using graph::Attr;
using graph::AttrBlock;
using graph::OpKind;

constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();  // of one function of a double

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

// How far off a function of x may be, by its slope.
double error_of(OpKind kind, const Exact& x, double rough) {
  if (!std::isfinite(x.rough)) return x.error;
  if (std::isnan(rough)) return 0;  // of no number
  double slope = 2;                 // of Tanh, Erf, Gelu, Sin... less
  const double least = std::abs(x.rough) - x.error;
  if (kind == OpKind::exp) slope = 2 * rough;
  if (kind == OpKind::log) slope = 1 / least;
  if (kind == OpKind::sqrt) slope = 1 / std::sqrt(least);
  const double moved = x.error == 0 ? 0 : least > 0 || kind == OpKind::exp ? slope * x.error : HUGE_VAL;
  return std::isfinite(rough) ? moved + kRounding * std::max(std::abs(rough), 1e-300) : HUGE_VAL;
}

Exact function(OpKind kind, const AttrBlock& attrs, const Exact& x) {
  if (kind == OpKind::sqrt && (x.is(0.0) || x.is(1.0))) return x;
  const double rough = roughly(kind, attrs, {x.rough});
  return oracle(number_of(kind, attrs), {x}, rough, error_of(kind, x, rough));
}

// The fraction with the smallest denominator that the float32 nearest to the value stands for: 0.16666667 is
// 1/6.
Exact fraction_near(double value) {
  constexpr int kMostDenominator = 1000;
  for (int denominator = 1; denominator <= kMostDenominator; ++denominator) {
    const double numerator = std::round(value * denominator);
    if (static_cast<float>(numerator / denominator) == static_cast<float>(value))
      return Exact::of(numerator) / Exact::of(static_cast<double>(denominator));
  }
  return Exact::of(value);
}

// On a step it is known which side counts.
Exact stepped(OpKind kind, const Exact& x) {
  const double nearest = std::round(2 * x.rough) / 2;
  if (std::isfinite(nearest) && x.is(nearest)) return Exact::of(roughly(kind, {}, {nearest}));
  if (!(std::abs(x.rough - nearest) > x.error))
    throw Undecided("a value is too close to a step", "exact evaluation", "draw again");
  return Exact::of(roughly(kind, {}, {x.rough}));
}

Exact between(const Exact& x, const Exact& low, const Exact& high) {
  return smaller(larger(x, low), high);
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
  const Exact zero, one = Exact::of(1.0);
  switch (kind) {
    case OpKind::relu:
      return larger(x, zero);
    case OpKind::leaky_relu:
      return less(x, zero) ? x * Exact::of(attrs.real(Attr::alpha)) : x;
    case OpKind::elu:
      return less(x, zero) ? Exact::of(attrs.real(Attr::alpha)) * (function(OpKind::exp, {}, x) - one) : x;
    case OpKind::sigmoid:
      return one / (one + function(OpKind::exp, {}, -x));
    case OpKind::hard_sigmoid:
      return between(x * fraction_near(attrs.real(Attr::alpha)) + fraction_near(attrs.real(Attr::beta)), zero,
                     one);
    case OpKind::hard_swish:
      return x * between(x / Exact::of(6.0) + Exact::of(0.5), zero, one);
    case OpKind::abs:
      return less(x, zero) ? -x : x;
    case OpKind::neg:
      return -x;
    case OpKind::reciprocal:
      return one / x;
    case OpKind::sign:
      return Exact::of(x.residue == 0 ? 0.0 : less(x, zero) ? -1.0 : 1.0);
    case OpKind::floor:
    case OpKind::ceil:
    case OpKind::round:
      return stepped(kind, x);
    case OpKind::logical_not:
      return x.residue == 0 ? one : zero;
    default:
      return function(kind, attrs, x);
  }
}

// To a whole power that is a constant: a product.
Exact product(const Exact& a, std::int64_t n) {
  Exact out = Exact::of(1.0);
  for (std::int64_t i = 0; i < std::abs(n); ++i) out = out * a;
  return n < 0 ? Exact::of(1.0) / out : out;
}

// Nothing is known of powers that are not whole, and of large ones, except for the root.
Exact power(const Exact& a, const Exact& b) {
  constexpr double kLargest = 64;
  const double whole = std::round(b.rough);
  if (std::abs(whole) <= kLargest && b.is(whole)) return product(a, static_cast<std::int64_t>(whole));
  if (b.is(0.5)) return function(OpKind::sqrt, {}, a);
  if (b.is(-0.5)) return Exact::of(1.0) / function(OpKind::sqrt, {}, a);
  const double rough = roughly(OpKind::pow, {}, {a.rough, b.rough});
  const double moved =
      std::abs(b.rough / a.rough) * a.error + std::abs(std::log(std::abs(a.rough))) * b.error;
  const double error =
      a.error + b.error == 0 ? kRounding * std::abs(rough) : std::abs(rough) * (2 * moved + kRounding);
  return oracle(number_of(OpKind::pow, {}), {a, b}, rough, std::isnan(rough) ? 0 : error);
}

Exact truth(bool holds) {
  return Exact::of(holds ? 1.0 : 0.0);
}

// Integers are divided towards zero.
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
      return smaller(a, b);
    case OpKind::prelu:
      return less(a, {}) ? a * b : a;
    case OpKind::equal:
      return truth(a == b);
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
      throw Undecided(std::string(graph::op_info(kind).name) + " is not known", "exact evaluation", "");
  }
}

struct Range {
  double least, most;
};

// The range of integers that an int64 wraps to.
std::optional<Range> small_range(graph::DType type) {
  if (type == graph::DType::uint8) return Range{0, 255};
  if (type == graph::DType::int8) return Range{-128, 127};
  if (type == graph::DType::uint16) return Range{0, 65535};
  if (type == graph::DType::int16) return Range{-32768, 32767};
  if (type == graph::DType::uint32) return Range{0, 4294967295.0};
  return std::nullopt;
}

// The last bits of an integer, as many as there are.
Exact wrapped(const Exact& x, Range range) {
  const auto values = static_cast<std::int64_t>(range.most - range.least) + 1;
  if (!(std::abs(x.rough) < 0x1p52))
    throw Undecided("this Cast is not known", "exact evaluation", "draw again");
  std::int64_t value = std::llround(x.rough) % values;
  if (static_cast<double>(value) < range.least) value += values;
  if (static_cast<double>(value) > range.most) value -= values;
  return Exact::of(value);
}

// What is rounded is known where the number is; what may not fit is undecided. Of real numbers towards zero.
Exact cast(const Exact& x, graph::DType from, graph::DType to) {
  using graph::DType;
  if (from == to) return x;
  if (to == DType::boolean) return truth(x.residue != 0);
  const bool holds = to == DType::float64 || (to == DType::float32 && from != DType::float64);
  if (holds) return x;
  if (const auto range = small_range(to); range && !graph::is_float(from)) return wrapped(x, *range);
  constexpr double kFits = 0x1p31;
  const bool fits = std::abs(x.rough) < kFits;
  if (graph::is_float(to) && fits && x.error == 0) {
    AttrBlock attrs;
    attrs.set(Attr::to, static_cast<std::int64_t>(to));
    return Exact::of(roughly(OpKind::cast, attrs, {x.rough}));
  }
  const bool whole = to == DType::int64 || to == DType::int32 || small_range(to);
  if (!whole || !fits) throw Undecided("this Cast is not known", "exact evaluation", "draw again");
  if (!graph::is_float(from)) return x;
  const Exact towards_zero = less(x, {}) ? stepped(OpKind::ceil, x) : stepped(OpKind::floor, x);
  const auto range = small_range(to);
  // What a float that does not fit becomes is the machine's affair.
  const bool held = !range || (towards_zero.rough >= range->least && towards_zero.rough <= range->most);
  return held ? towards_zero : Exact::undefined();
}

}  // namespace

Exact exact_function(OpKind kind, const Exact& x) {
  return unary(kind, {}, x);
}

ExactTensor exact_elementwise(OpKind kind, const AttrBlock& attrs, ExactInputs inputs, ExactTensor out) {
  if (out.values.empty()) return out;
  const bool one = graph::op_info(kind).max_inputs == 1 || kind == OpKind::clip;
  const bool divides = kind == OpKind::div && !graph::is_float(out.dtype);
  const auto at = [&](const Exact& value, const graph::Ints& index) {
    if (kind == OpKind::where) return inputs[value.residue != 0 ? 1 : 2]->broadcast_at(index);
    if (kind == OpKind::clip) return clipped(attrs, inputs, value);
    if (kind == OpKind::cast) return cast(value, inputs[0]->dtype, out.dtype);
    if (one) return unary(kind, attrs, value);
    Exact result = value;
    for (std::size_t k = 1; k < inputs.size(); ++k) {
      const Exact& other = inputs[k]->broadcast_at(index);
      if (!other.defined() || !result.defined()) return Exact::undefined();
      result = divides ? integer_quotient(result, other) : binary(kind, result, other);
    }
    return result;
  };
  graph::Ints index(out.dims.size(), 0);
  std::size_t i = 0;
  do {
    const Exact& first = inputs[0]->broadcast_at(index);
    out.values[i++] = first.defined() ? at(first, index) : Exact::undefined();
  } while (next_index(index, out.dims));
  return out;
}

}
