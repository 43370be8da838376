#include <algorithm>
#include <cmath>
#include <functional>

#include "core/graph/evaluate_ops.h"

namespace regraft::graph {
namespace {

/// Calls f(offset_a, offset_b, out) for runs along the last dim of `out`, with the strides of a and b there.
template <typename Run>
void for_each_run(std::span<const std::int64_t> out, std::span<const std::int64_t> a,
                  std::span<const std::int64_t> b, const Run& run) {
  const std::size_t rank = out.size();
  const std::int64_t length = rank == 0 ? 1 : out[rank - 1];
  const std::int64_t total = element_count(out);
  if (total == 0) return;
  std::vector<std::int64_t> at(rank, 0);
  std::int64_t offset_a = 0, offset_b = 0;
  for (std::int64_t start = 0; start < total; start += length) {
    run(start, length, offset_a, rank == 0 ? 0 : a[rank - 1], offset_b, rank == 0 ? 0 : b[rank - 1]);
    for (std::size_t axis = rank < 2 ? 0 : rank - 1; axis-- > 0;) {
      offset_a += a[axis];
      offset_b += b[axis];
      if (++at[axis] < out[axis]) break;
      offset_a -= a[axis] * out[axis];
      offset_b -= b[axis] * out[axis];
      at[axis] = 0;
    }
  }
}

template <typename In, typename Out, typename Op>
HostTensor combine(OpKind kind, DType dtype, const HostTensor& a, const HostTensor& b, const Op& op) {
  const HostTensor* both[] = {&a, &b};
  HostTensor result = make_tensor(dtype, broadcast_dims(kind, both));
  const In *left = elements<In>(a).data(), *right = elements<In>(b).data();
  Out* out = elements<Out>(result).data();
  for_each_run(result.dims, broadcast_strides(a.dims, result.dims), broadcast_strides(b.dims, result.dims),
               [&](std::int64_t start, std::int64_t length, std::int64_t at_a, std::int64_t step_a,
                   std::int64_t at_b, std::int64_t step_b) {
                 for (std::int64_t i = 0; i < length; ++i)
                   out[start + i] = op(left[at_a + i * step_a], right[at_b + i * step_b]);
               });
  return result;
}

template <typename Op>
HostTensor map_real(const HostTensor& x, const Op& op) {
  HostTensor result = make_tensor(x.dtype, x.dims);
  for (std::size_t i = 0; i < x.real.size(); ++i) result.real[i] = op(x.real[i]);
  return result;
}

template <typename Op>
HostTensor map_integer(const HostTensor& x, const Op& op) {
  HostTensor result = make_tensor(x.dtype, x.dims);
  for (std::size_t i = 0; i < x.integer.size(); ++i) result.integer[i] = wrap(x.dtype, op(x.integer[i]));
  return result;
}

std::int64_t divide(std::int64_t a, std::int64_t b) {
  if (b == 0) refuse(OpKind::div, "divides an integer by zero");
  return b == -1 ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a)) : a / b;
}

/// Runtimes raise to a power in fp64: beyond 2^53, and where 0 is divided by, each gives a result of its own.
std::int64_t integer_power(std::int64_t base, std::int64_t exponent) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  if (base == 1 || exponent == 0) return 1;
  if (base == -1) return exponent % 2 ? -1 : 1;
  if (exponent < 0 && base == 0) refuse(OpKind::pow, "divides an integer by zero");
  if (base == 0 || exponent < 0) return 0;
  std::int64_t result = 1;
  for (; exponent > 0; --exponent)  // at most 53 times: |base| is 2 at least
    if (__builtin_mul_overflow(result, base, &result) || result > kExact || result < -kExact)
      refuse(OpKind::pow, "is not exact in fp64");
  return result;
}

/// Unsigned arithmetic: it wraps where signed overflow is undefined.
template <typename Op>
auto wrapping(DType dtype, const Op& op) {
  return [dtype, op](std::int64_t a, std::int64_t b) {
    return wrap(dtype,
                static_cast<std::int64_t>(op(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b))));
  };
}

double max_of(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? a + b : a < b ? b : a;
}
double min_of(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? a + b : b < a ? b : a;
}

HostTensor real_binary(OpKind kind, const HostTensor& a, const HostTensor& b) {
  const auto run = [&](const auto& op) { return combine<double, double>(kind, a.dtype, a, b, op); };
  switch (kind) {
    case OpKind::add:
    case OpKind::sum:
      return run([](double x, double y) { return x + y; });
    case OpKind::sub:
      return run([](double x, double y) { return x - y; });
    case OpKind::mul:
      return run([](double x, double y) { return x * y; });
    case OpKind::div:
      return run([](double x, double y) { return x / y; });
    case OpKind::pow:
      return run([](double x, double y) { return exact::pow(x, y); });
    case OpKind::max:
      return run(max_of);
    case OpKind::min:
      return run(min_of);
    case OpKind::prelu:
      return run([](double x, double slope) { return x < 0 ? x * slope : x; });
    default:
      refuse(kind, "is not folded");
  }
}

HostTensor integer_binary(OpKind kind, const HostTensor& a, const HostTensor& b) {
  const DType dtype = a.dtype;
  const auto run = [&](const auto& op) { return combine<std::int64_t, std::int64_t>(kind, dtype, a, b, op); };
  switch (kind) {
    case OpKind::add:
    case OpKind::sum:
      return run(wrapping(dtype, std::plus<>()));
    case OpKind::sub:
      return run(wrapping(dtype, std::minus<>()));
    case OpKind::mul:
      return run(wrapping(dtype, std::multiplies<>()));
    case OpKind::div:
      return run([dtype](std::int64_t x, std::int64_t y) { return wrap(dtype, divide(x, y)); });
    case OpKind::pow:
      return run([dtype](std::int64_t x, std::int64_t y) { return wrap(dtype, integer_power(x, y)); });
    case OpKind::max:
      return run([](std::int64_t x, std::int64_t y) { return std::max(x, y); });
    case OpKind::min:
      return run([](std::int64_t x, std::int64_t y) { return std::min(x, y); });
    case OpKind::prelu:
      return run([dtype](std::int64_t x, std::int64_t slope) {
        return x < 0 ? wrap(dtype, multiply_add(x, slope, 0)) : x;
      });
    default:
      refuse(kind, "is not folded");
  }
}

template <typename T>
HostTensor compare(OpKind kind, const HostTensor& a, const HostTensor& b) {
  const auto run = [&](const auto& op) { return combine<T, std::int64_t>(kind, DType::boolean, a, b, op); };
  switch (kind) {
    case OpKind::equal:
      return run([](T x, T y) { return std::int64_t{x == y}; });
    case OpKind::greater:
      return run([](T x, T y) { return std::int64_t{x > y}; });
    case OpKind::less:
      return run([](T x, T y) { return std::int64_t{x < y}; });
    case OpKind::greater_or_equal:
      return run([](T x, T y) { return std::int64_t{x >= y}; });
    case OpKind::less_or_equal:
      return run([](T x, T y) { return std::int64_t{x <= y}; });
    case OpKind::logical_and:
      return run([](T x, T y) { return std::int64_t{x != 0 && y != 0}; });
    default:
      return run([](T x, T y) { return std::int64_t{x != 0 || y != 0}; });
  }
}

/// Towards zero. What lies beyond the type is undefined, and every CPU gives a result of its own.
std::int64_t truncate(double value, DType dtype) {
  const double whole = std::trunc(value);
  const bool in_64_bits = whole >= -0x1p63 && whole < 0x1p63;  // no NaN
  const std::int64_t integer = in_64_bits ? static_cast<std::int64_t>(whole) : 0;
  if (!in_64_bits || wrap(dtype, integer) != integer) refuse(OpKind::cast, "leaves the range of its type");
  return integer;
}

HostTensor cast_to(const HostTensor& x, DType dtype) {
  HostTensor result = make_tensor(dtype, x.dims);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (is_float(dtype))
      result.real[i] = round_to(dtype, is_float(x.dtype) ? x.real[i] : static_cast<double>(x.integer[i]));
    else if (!is_float(x.dtype))
      result.integer[i] = wrap(dtype, x.integer[i]);
    else
      result.integer[i] = dtype == DType::boolean ? x.real[i] != 0 : truncate(x.real[i], dtype);
  }
  return result;
}

double gelu(double x, bool with_tanh) {
  constexpr double kRootHalf = 0.70710678118654752440, kRootTwoOverPi = 0.79788456080286535588;
  if (!with_tanh) return 0.5 * x * (1 + exact::erf(x * kRootHalf));
  return 0.5 * x * (1 + exact::tanh(kRootTwoOverPi * (x + 0.044715 * x * x * x)));
}

double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + exact::exp(-x)) : exact::exp(x) / (1 + exact::exp(x));
}

double softplus(double x) {
  const double tail = exact::exp(-std::abs(x)), sum = 1 + tail;
  const double log1p =
      sum == 1 ? tail : exact::log(sum) * tail / (sum - 1);  // Kahan: the rounding of `sum` cancels
  return std::max(x, 0.0) + log1p;
}

HostTensor real_activation(OpKind kind, const AttrBlock& attrs, const HostTensor& x) {
  const double alpha = attrs.has(Attr::alpha) ? attrs.real(Attr::alpha) : 0;
  switch (kind) {
    case OpKind::relu:
      return map_real(x, [](double v) { return max_of(v, 0); });
    case OpKind::leaky_relu:
      return map_real(x, [=](double v) { return v < 0 ? alpha * v : v; });
    case OpKind::elu:
      return map_real(x, [=](double v) { return v < 0 ? alpha * (exact::exp(v) - 1) : v; });
    case OpKind::sigmoid:
      return map_real(x, sigmoid);
    case OpKind::hard_sigmoid: {
      const double beta = attrs.real(Attr::beta);
      return map_real(x, [=](double v) { return min_of(1, max_of(0, alpha * v + beta)); });
    }
    case OpKind::hard_swish:
      return map_real(x, [](double v) { return v * min_of(1, max_of(0, v / 6 + 0.5)); });
    case OpKind::tanh:
      return map_real(x, exact::tanh);
    case OpKind::softplus:
      return map_real(x, softplus);
    case OpKind::erf:
      return map_real(x, exact::erf);
    case OpKind::gelu: {
      const bool with_tanh = attrs.text(Attr::approximate) == "tanh";
      return map_real(x, [=](double v) { return gelu(v, with_tanh); });
    }
    default:
      refuse(kind, "is not folded");
  }
}

HostTensor real_unary(OpKind kind, const AttrBlock& attrs, const HostTensor& x) {
  switch (kind) {
    case OpKind::exp:
      return map_real(x, exact::exp);
    case OpKind::log:
      return map_real(x, exact::log);
    case OpKind::sqrt:
      return map_real(x, [](double v) { return std::sqrt(v); });
    case OpKind::reciprocal:
      return map_real(x, [](double v) { return 1 / v; });
    case OpKind::neg:
      return map_real(x, [](double v) { return -v; });
    case OpKind::abs:
      return map_real(x, [](double v) { return std::abs(v); });
    case OpKind::floor:
      return map_real(x, [](double v) { return std::floor(v); });
    case OpKind::ceil:
      return map_real(x, [](double v) { return std::ceil(v); });
    case OpKind::round:
      return map_real(x, [](double v) { return std::nearbyint(v); });
    case OpKind::sign:
      return map_real(x, [](double v) { return v > 0 ? 1.0 : v < 0 ? -1.0 : v; });
    case OpKind::sin:
      return map_real(x, exact::sin);
    case OpKind::cos:
      return map_real(x, exact::cos);
    default:
      return real_activation(kind, attrs, x);
  }
}

HostTensor integer_unary(OpKind kind, const HostTensor& x) {
  switch (kind) {
    case OpKind::relu:
      return map_integer(x, [](std::int64_t v) { return std::max<std::int64_t>(v, 0); });
    case OpKind::neg:
      return map_integer(
          x, [](std::int64_t v) { return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(v)); });
    case OpKind::abs:
      return map_integer(x, [](std::int64_t v) {
        return v < 0 ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(v)) : v;
      });
    case OpKind::sign:
      return map_integer(x, [](std::int64_t v) { return std::int64_t{v > 0} - std::int64_t{v < 0}; });
    case OpKind::logical_not:
      return map_integer(x, [](std::int64_t v) { return std::int64_t{v == 0}; });
    default:
      refuse(kind, "is not folded for integers");
  }
}

template <typename T>
HostTensor clip_as(const AttrBlock& attrs, Inputs inputs) {
  const auto bound = [&](std::size_t input, Attr attr) -> std::optional<T> {
    if (inputs.size() > input && inputs[input]) {
      const HostTensor& given = *inputs[input];
      if (given.size() != 1) refuse(OpKind::clip, "takes scalar bounds");
      return elements<T>(given).at(0);
    }
    const AttrValue* value = attrs.find(attr);
    if (!value) return std::nullopt;
    return std::holds_alternative<double>(*value) ? static_cast<T>(std::get<double>(*value))
                                                  : static_cast<T>(std::get<std::int64_t>(*value));
  };
  const std::optional<T> low = bound(1, Attr::min), high = bound(2, Attr::max);
  HostTensor result = *inputs[0];
  for (T& v : elements<T>(result)) {
    if constexpr (std::is_same_v<T, double>) {
      if (low) v = max_of(v, *low);
      if (high) v = min_of(v, *high);
    } else {
      if (low) v = std::max(v, *low);
      if (high) v = std::min(v, *high);
    }
  }
  return result;
}

HostTensor clip(const AttrBlock& attrs, Inputs inputs) {
  return is_float(inputs[0]->dtype) ? clip_as<double>(attrs, inputs) : clip_as<std::int64_t>(attrs, inputs);
}

/// out = condition ? a : b, as two broadcasts over the common shape.
HostTensor where(Inputs inputs) {
  HostTensor result = make_tensor(inputs[1]->dtype, broadcast_dims(OpKind::where, inputs));
  const auto condition = broadcast_strides(inputs[0]->dims, result.dims);
  for (const std::size_t branch : {std::size_t{1}, std::size_t{2}}) {
    const HostTensor& from = *inputs[branch];
    const std::int64_t* flags = inputs[0]->integer.data();
    const bool wanted = branch == 1;
    for_each_run(result.dims, condition, broadcast_strides(from.dims, result.dims),
                 [&](std::int64_t start, std::int64_t length, std::int64_t at_a, std::int64_t step_a,
                     std::int64_t at_b, std::int64_t step_b) {
                   for (std::int64_t i = 0; i < length; ++i) {
                     if ((flags[at_a + i * step_a] != 0) != wanted) continue;
                     const auto source = static_cast<std::size_t>(at_b + i * step_b);
                     const auto target = static_cast<std::size_t>(start + i);
                     if (is_float(result.dtype))
                       result.real[target] = from.real[source];
                     else
                       result.integer[target] = from.integer[source];
                   }
                 });
  }
  return result;
}

/// Pow with an integer base and a real exponent or the reverse: the result has the base's dtype.
HostTensor mixed_power(const HostTensor& base, const HostTensor& exponent) {
  const HostTensor result =
      real_binary(OpKind::pow, cast_to(base, DType::float64), cast_to(exponent, DType::float64));
  return cast_to(result, base.dtype);
}

bool is_comparison(OpKind kind) {
  return kind == OpKind::equal || kind == OpKind::greater || kind == OpKind::less ||
         kind == OpKind::greater_or_equal || kind == OpKind::less_or_equal || kind == OpKind::logical_and ||
         kind == OpKind::logical_or;
}

}  // namespace

HostTensor evaluate_elementwise(OpKind kind, const AttrBlock& attrs, Inputs inputs) {
  const HostTensor& x = *inputs[0];
  if (kind == OpKind::clip) return clip(attrs, inputs);
  if (kind == OpKind::where) return where(inputs);
  if (kind == OpKind::cast) return cast_to(x, static_cast<DType>(attrs.integer(Attr::to)));
  if (kind == OpKind::cast_like) return cast_to(x, inputs[1]->dtype);
  const bool real = is_float(x.dtype);
  if (is_comparison(kind))
    return real ? compare<double>(kind, x, *inputs[1]) : compare<std::int64_t>(kind, x, *inputs[1]);
  if (kind == OpKind::pow && is_float(inputs[1]->dtype) != real) return mixed_power(x, *inputs[1]);
  if (op_info(kind).max_inputs == 1) return real ? real_unary(kind, attrs, x) : integer_unary(kind, x);
  if (inputs.size() == 1) return x;
  HostTensor result = real ? real_binary(kind, x, *inputs[1]) : integer_binary(kind, x, *inputs[1]);
  for (std::size_t i = 2; i < inputs.size(); ++i)
    result = real ? real_binary(kind, result, *inputs[i]) : integer_binary(kind, result, *inputs[i]);
  return result;
}

}
