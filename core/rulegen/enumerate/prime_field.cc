#include "core/rulegen/enumerate/prime_field.h"

#include <algorithm>
#include <cmath>

#include "core/graph/order.h"
#include "core/rulegen/enumerate/term.h"
#include "core/rulegen/enumerate/window.h"

namespace regraft::rulegen {
namespace {

using K = graph::OpKind;
using A = graph::Attr;
using Ints = std::vector<std::int64_t>;

std::int64_t reduce(std::uint64_t x) {
  return static_cast<std::int64_t>(x % static_cast<std::uint64_t>(kPrime));
}
std::int64_t field_add(std::int64_t a, std::int64_t b) {
  const std::int64_t sum = a + b;
  return sum >= kPrime ? sum - kPrime : sum;
}
// For long sums: congruent to a * b and below 2^33, so that 2^30 of them fit.
std::uint64_t partial_product(std::int64_t a, std::int64_t b) {
  const auto product = static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b);
  return (product & static_cast<std::uint64_t>(kPrime)) + (product >> 31);
}
std::int64_t negate(std::int64_t a) {
  return a == 0 ? 0 : kPrime - a;
}
bool positive(std::int64_t a) {
  return a > 0 && a <= kPrime / 2;
}

HostTensor make(Ints dims) {
  HostTensor out;
  out.dtype = graph::DType::int64;
  out.integer.assign(static_cast<std::size_t>(element_count(dims)), 0);
  out.dims = std::move(dims);
  return out;
}

Ints broadcast(const Ints& a, const Ints& b) {
  Ints out = a.size() >= b.size() ? a : b;
  const Ints& less = a.size() >= b.size() ? b : a;
  for (std::size_t i = 0; i < less.size(); ++i) {
    std::int64_t& d = out[out.size() - less.size() + i];
    if (d == 1) d = less[i];
    if (less[i] != 1 && less[i] != d) throw RulegenError("operands do not fit", "field", "");
  }
  return out;
}

template <typename Combine>
HostTensor binary(const HostTensor& a, const HostTensor& b, Combine combine) {
  if (a.dims == b.dims) {
    HostTensor out = make(a.dims);
    for (std::size_t i = 0; i < out.integer.size(); ++i) out.integer[i] = combine(a.integer[i], b.integer[i]);
    return out;
  }
  HostTensor out = make(broadcast(a.dims, b.dims));
  const Ints sa = aligned_strides(a.dims, out.dims), sb = aligned_strides(b.dims, out.dims);
  for_each_index(out.dims, [&](const Ints& at, std::size_t flat) {
    out.integer[flat] = combine(a.integer[dot(sa, at)], b.integer[dot(sb, at)]);
  });
  return out;
}

template <typename Map>
HostTensor unary(const HostTensor& x, Map map) {
  HostTensor out = make(x.dims);
  std::transform(x.integer.begin(), x.integer.end(), out.integer.begin(), map);
  return out;
}

std::int64_t oracle(std::int64_t x, std::uint64_t name) {
  Hasher hasher(name);
  hasher.add(static_cast<std::uint64_t>(x));
  return reduce(hasher.finish().low);
}

HostTensor matmul(const HostTensor& a, const HostTensor& b) {
  if (a.dims.size() == 1 && !b.dims.empty()) {
    HostTensor row = a;
    row.dims = {1, a.dims[0]};
    HostTensor out = matmul(row, b);  // [..., 1, columns], or [1] of two vectors
    out.dims.erase(out.dims.end() - (b.dims.size() == 1 ? 1 : 2));
    return out;
  }
  if (b.dims.size() == 1 && !a.dims.empty()) {
    HostTensor column = b;
    column.dims = {b.dims[0], 1};
    HostTensor out = matmul(a, column);
    out.dims.pop_back();
    return out;
  }
  if (a.dims.size() < 2 || b.dims.size() < 2 || a.dims.back() != b.dims[b.dims.size() - 2])
    throw RulegenError("operands do not fit", "field MatMul", "");
  const std::int64_t rows = a.dims[a.dims.size() - 2], inner = a.dims.back(), columns = b.dims.back();
  const Ints batch_a(a.dims.begin(), a.dims.end() - 2), batch_b(b.dims.begin(), b.dims.end() - 2);
  Ints batch = broadcast(batch_a, batch_b), dims = batch;
  dims.insert(dims.end(), {rows, columns});
  HostTensor out = make(dims);
  const Ints sa = aligned_strides(batch_a, batch), sb = aligned_strides(batch_b, batch);
  for_each_index(batch, [&](const Ints& at, std::size_t flat) {
    const std::int64_t* pa = a.integer.data() + dot(sa, at) * static_cast<std::size_t>(rows * inner);
    const std::int64_t* pb = b.integer.data() + dot(sb, at) * static_cast<std::size_t>(inner * columns);
    std::int64_t* po = out.integer.data() + flat * static_cast<std::size_t>(rows * columns);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        std::uint64_t sum = 0;
        for (std::int64_t k = 0; k < inner; ++k)
          sum += partial_product(pa[i * inner + k], pb[k * columns + j]);
        po[i * columns + j] = reduce(sum);
      }
  });
  return out;
}

HostTensor convolution(const graph::AttrBlock& attrs, std::span<const HostTensor* const> in) {
  const HostTensor &x = *in[0], &w = *in[1];
  const Window window = window_of(K::conv, attrs, x.dims);
  const std::int64_t per_group = w.dims[0] / attrs.integer(A::group), channels = w.dims[1];
  const std::int64_t inner = element_count(window.kernel), image = element_count(window.image);
  Ints dims = {x.dims[0], w.dims[0]};
  dims.insert(dims.end(), window.out.begin(), window.out.end());
  HostTensor out = make(dims);
  const std::int64_t places = element_count(window.out);
  const std::vector<std::int64_t> offsets = window_offsets(window);
  for (std::int64_t n = 0; n < dims[0]; ++n)
    for (std::int64_t o = 0; o < dims[1]; ++o)
      for (std::int64_t at = 0; at < places; ++at) {
        std::uint64_t sum = 0;
        if (in.size() > 2 && in[2])
          sum = static_cast<std::uint64_t>(in[2]->integer[static_cast<std::size_t>(o)]);
        for (std::int64_t c = 0; c < channels; ++c) {
          const std::int64_t* px = x.integer.data() + (n * x.dims[1] + o / per_group * channels + c) * image;
          const std::int64_t* pw = w.integer.data() + (o * channels + c) * inner;
          for (std::int64_t k = 0; k < inner; ++k) {
            const std::int64_t offset = offsets[static_cast<std::size_t>(at * inner + k)];
            if (offset >= 0) sum += partial_product(px[offset], pw[k]);
          }
        }
        out.integer[static_cast<std::size_t>((n * dims[1] + o) * places + at)] = reduce(sum);
      }
  return out;
}

// The larger of two elements in the order of signed numbers.
std::int64_t larger(std::int64_t a, std::int64_t b) {
  const auto value = [](std::int64_t v) { return v > kPrime / 2 ? v - kPrime : v; };
  return value(a) >= value(b) ? a : b;
}

HostTensor pool(K kind, const graph::AttrBlock& attrs, const HostTensor& x) {
  const Window window = window_of(kind, attrs, x.dims);
  Ints dims = {x.dims[0], x.dims[1]};
  dims.insert(dims.end(), window.out.begin(), window.out.end());
  HostTensor out = make(dims);
  const std::int64_t places = element_count(window.out), inner = element_count(window.kernel);
  const std::int64_t image = element_count(window.image);
  const std::vector<std::int64_t> offsets = window_offsets(window);
  const bool all = kind == K::average_pool && attrs.integer(A::count_include_pad) != 0;
  for (std::int64_t plane = 0; plane < dims[0] * dims[1]; ++plane)
    for (std::int64_t at = 0; at < places; ++at) {
      std::int64_t sum = 0, best = -1, inside = 0;
      for (std::int64_t k = 0; k < inner; ++k) {
        const std::int64_t offset = offsets[static_cast<std::size_t>(at * inner + k)];
        if (offset < 0) continue;
        const std::int64_t v = x.integer[static_cast<std::size_t>(plane * image + offset)];
        best = best < 0 ? v : larger(best, v);
        sum = field_add(sum, v);
        ++inside;
      }
      const std::int64_t framed = all ? window.framed[static_cast<std::size_t>(at)] : inside;
      out.integer[static_cast<std::size_t>(plane * places + at)] =
          kind == K::max_pool ? std::max<std::int64_t>(best, 0)
                              : field_multiply(sum, field_inverse(std::max<std::int64_t>(framed, 1)));
    }
  return out;
}

HostTensor global_average(const HostTensor& x) {
  Ints dims = {x.dims[0], x.dims[1]};
  dims.resize(x.dims.size(), 1);
  HostTensor out = make(dims);
  const std::size_t inner = x.integer.size() / std::max<std::size_t>(1, out.integer.size());
  for (std::size_t i = 0; i < x.integer.size(); ++i)
    out.integer[i / inner] = field_add(out.integer[i / inner], x.integer[i]);
  const std::int64_t scale = field_inverse(static_cast<std::int64_t>(inner));
  for (std::int64_t& v : out.integer) v = field_multiply(v, scale);
  return out;
}

HostTensor from_constant(const HostTensor& constant) {
  HostTensor out = make(constant.dims);
  const bool real = graph::is_float(constant.dtype);
  for (std::size_t i = 0; i < out.integer.size(); ++i)
    out.integer[i] = field_number(real ? constant.real[i] : static_cast<double>(constant.integer[i]));
  return out;
}

}  // namespace

std::int64_t field_multiply(std::int64_t a, std::int64_t b) {
  return reduce(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

std::int64_t field_inverse(std::int64_t a) {
  std::int64_t result = 1, base = a;
  for (std::int64_t e = kPrime - 2; e > 0; e >>= 1) {
    if (e & 1) result = field_multiply(result, base);
    base = field_multiply(base, base);
  }
  return result;
}

std::int64_t field_number(double value) {
  constexpr double kRounding = 1.2e-7;  // of float32, in which rules write numbers
  constexpr std::int64_t kHalf = kPrime / 2;
  for (std::int64_t denominator = 1; denominator <= 1024 && std::isfinite(value); ++denominator) {
    const double numerator = std::round(value * static_cast<double>(denominator));
    if (std::abs(numerator) >= static_cast<double>(kHalf)) break;
    if (std::abs(numerator / static_cast<double>(denominator) - value) > kRounding * std::abs(value))
      continue;
    const auto whole = static_cast<std::int64_t>(std::abs(numerator));
    const std::int64_t size = field_multiply(whole, field_inverse(denominator));
    return numerator < 0 ? negate(size) : size;
  }
  throw RulegenError("the constant " + std::to_string(value) + " is no small fraction", "field", "");
}

std::vector<HostTensor> field_evaluate(K kind, const graph::AttrBlock& attrs,
                                       std::span<const HostTensor* const> in) {
  const auto nothing = [](std::int64_t a) { return a; };
  switch (kind) {
    case K::add:
      return {binary(*in[0], *in[1], field_add)};
    case K::sub:
      return {binary(*in[0], *in[1], [](auto a, auto b) { return field_add(a, negate(b)); })};
    case K::mul:
      return {binary(*in[0], *in[1], field_multiply)};
    case K::max:
      return {binary(*in[0], *in[1], larger)};
    case K::sum: {
      HostTensor out = unary(*in[0], nothing);
      for (const HostTensor* other : in.subspan(1)) out = binary(out, *other, field_add);
      return {out};
    }
    case K::neg:
      return {unary(*in[0], negate)};
    case K::relu:
      return {unary(*in[0], [](std::int64_t a) { return positive(a) ? a : 0; })};
    case K::sigmoid:
      return {unary(*in[0], [](std::int64_t a) { return oracle(a, 1); })};
    case K::tanh:
      return {unary(*in[0], [](std::int64_t a) { return oracle(a, 2); })};
    case K::matmul:
      return {matmul(*in[0], *in[1])};
    case K::conv:
      return {convolution(attrs, in)};
    case K::max_pool:
    case K::average_pool:
      return {pool(kind, attrs, *in[0])};
    case K::global_average_pool:
      return {global_average(*in[0])};
    default:
      break;
  }
  if (!graph::op_info(kind).is(graph::kMovement) && kind != K::pad && kind != K::identity)
    throw RulegenError(std::string(graph::op_info(kind).name) + " has no meaning over a prime field", "field",
                       "test such rules in floating point");
  return graph::evaluate_op(kind, attrs, in);
}

HostTensor field_random(std::span<const std::int64_t> dims, Rng& rng) {
  HostTensor out = make(Ints(dims.begin(), dims.end()));
  for (std::int64_t& v : out.integer) v = static_cast<std::int64_t>(rng.below(kPrime));
  return out;
}

std::vector<HostTensor> field_run(const graph::Graph& graph,
                                  const std::map<std::int32_t, HostTensor>& inputs) {
  std::map<graph::Value, HostTensor> values;
  for (graph::NodeId id : graph::topological_order(graph)) {
    const graph::Node& node = graph.node(id);
    if (node.kind == K::input) {
      values[{id, 0}] = inputs.at(node.origin);
      continue;
    }
    if (node.kind == K::weight) {
      values[{id, 0}] = from_constant(graph::evaluate(graph.tables(), node.weight));
      continue;
    }
    std::vector<const HostTensor*> operands;
    for (graph::Value v : node.inputs) operands.push_back(v.present() ? &values.at(v) : nullptr);
    std::vector<HostTensor> out = field_evaluate(node.kind, graph.attrs(id), operands);
    for (std::uint32_t i = 0; i < out.size(); ++i) values[{id, i}] = std::move(out[i]);
  }
  std::vector<HostTensor> outputs;
  for (graph::Value v : graph.outputs()) outputs.push_back(values.at(v));
  return outputs;
}

Hash128 field_hash(const HostTensor& tensor, std::uint64_t seed) {
  Hash128 out = hash_bytes(std::as_bytes(std::span(tensor.integer)), seed);
  out += hash_bytes(std::as_bytes(std::span(tensor.dims)), seed + 1);
  return out;
}

}
