#pragma once

#include "core/proof/symbolic/axiom.h"

namespace regraft::proof::testing {

using graph::Attr;
using graph::OpKind;

/// Makes variant number n of an operation (its ranks, axes, permutations); false for the last one.
using Maker = bool (*)(Axiom&, std::size_t n);

struct AxiomCase {
  std::string name;
  OpKind kind;
  Maker make;
  std::size_t least_elements;
};

/// Digits of a number in a mixed base: the choices of a variant.
class Digits {
 public:
  explicit Digits(std::size_t number) : rest_(number) {}
  std::size_t below(std::size_t bound) {
    last_ = last_ && rest_ % bound == bound - 1;
    const std::size_t digit = rest_ % bound;
    rest_ /= bound;
    return digit;
  }
  bool more() const { return !last_; }

 private:
  std::size_t rest_;
  bool last_ = true;
};

inline std::vector<std::size_t> permutation(std::size_t rank, Digits& digits) {
  std::vector<std::size_t> left(rank), out;
  for (std::size_t i = 0; i < rank; ++i) left[i] = i;
  while (!left.empty()) {
    const std::size_t i = digits.below(left.size());
    out.push_back(left[i]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return out;
}

inline Index numbers(Axiom& a, const std::vector<std::size_t>& list) {
  Index out;
  for (std::size_t i : list) out.push_back(a.number(static_cast<std::int64_t>(i)));
  return out;
}

// Each subset of 0 ... count - 1.
inline std::vector<std::size_t> subset(std::size_t count, Digits& digits) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < count; ++i)
    if (digits.below(2) == 1) out.push_back(i);
  return out;
}

inline constexpr std::int64_t kMost = 4;

// Ranks 0 to 3 of each operand, in all combinations.
inline bool unary(Axiom& a, std::size_t n) {
  a.operand(n, kMost);
  return n < 3;
}

inline bool unary_with_alpha(Axiom& a, std::size_t n) {
  a.attribute(Attr::alpha, 0.375);
  return unary(a, n);
}

inline bool hard_sigmoid(Axiom& a, std::size_t n) {
  a.attribute(Attr::beta, 0.125);
  return unary_with_alpha(a, n);
}

inline bool binary(Axiom& a, std::size_t n) {
  Digits digits(n);
  for (int i = 0; i < 2; ++i) a.operand(digits.below(4), kMost);
  return digits.more();
}

inline bool prelu(Axiom& a, std::size_t n) {
  a.allow_other_types();
  return binary(a, n);
}

// Ranks 0 to 2.
inline bool three(Axiom& a, std::size_t n) {
  Digits digits(n);
  for (int i = 0; i < 3; ++i) a.operand(digits.below(3), kMost);
  return digits.more();
}

inline bool matmul(Axiom& a, std::size_t n) {
  Digits digits(n);
  for (int i = 0; i < 2; ++i) a.operand(1 + digits.below(3), kMost);
  return digits.more();
}

inline bool gemm(Axiom& a, std::size_t n) {
  Digits digits(n);
  a.operand(2, kMost);
  a.operand(2, kMost);
  for (const Attr attr : {Attr::trans_a, Attr::trans_b})
    a.attribute(attr, a.number(static_cast<std::int64_t>(digits.below(2))));
  if (const std::size_t added = digits.below(4); added > 0) a.operand(added - 1, kMost);
  a.attribute(Attr::alpha, 0.75);
  a.attribute(Attr::beta, -0.5);
  return digits.more();
}

inline void window(Axiom& a, const Index& kernel, std::int64_t stride, std::int64_t pad,
                   std::int64_t dilation) {
  a.attribute(Attr::kernel_shape, kernel);
  a.attribute(Attr::strides, a.unknowns(kernel.size(), 1, stride));
  a.attribute(Attr::pads, a.unknowns(2 * kernel.size(), 0, pad));
  a.attribute(Attr::dilations, a.unknowns(kernel.size(), 1, dilation));
}

// One spatial dim and kernels to 4, strides to 3, pads to 2, dilations to 2; batch 1. First one group and
// channels to 2 on both sides, with and without a bias; then groups to 3 of one channel each, with one or two
// filters a group.
inline bool conv_1d(Axiom& a, std::size_t n) {
  const z3::expr one = a.number(1);
  const Index kernel = {a.unknown(1, kMost)};
  if (n < 2) {
    const Index channels = a.unknowns(2, 1, 2);
    a.operand({one, channels[0], a.unknown(1, kMost)});
    a.operand({channels[1], channels[0], kernel[0]});
    if (n == 1) a.operand({channels[1]});
    a.attribute(Attr::group, one);
  } else {
    const z3::expr groups = a.unknown(1, 3), filters = a.unknown(1, 2);
    a.operand({one, groups, a.unknown(1, kMost)});
    a.operand({groups * filters, one, kernel[0]});
    a.attribute(Attr::group, groups);
  }
  window(a, kernel, 3, 2, 2);
  return n < 2;
}

// Two spatial dims to 4, kernels to 3, strides to 2, pads to 1; one channel.
inline bool conv_2d(Axiom& a, std::size_t) {
  const z3::expr one = a.number(1);
  const Index kernel = a.unknowns(2, 1, 3), image = a.unknowns(2, 1, kMost);
  a.operand({one, one, image[0], image[1]});
  a.operand({one, one, kernel[0], kernel[1]});
  a.attribute(Attr::group, one);
  window(a, kernel, 2, 1, 1);
  return false;
}

// Batch, channels, filters and groups: all to 4 (groups, channels a group and filters in all unknown, whether
// they fit or not), a kernel of two taps on an image of three.
inline bool conv_channels(Axiom& a, std::size_t n) {
  const z3::expr one = a.number(1), zero = a.number(0), two = a.number(2);
  a.operand({a.unknown(1, 2), a.unknown(1, kMost), a.number(3)});
  a.operand({a.unknown(1, kMost), a.unknown(1, kMost), two});
  if (n == 1) a.operand({a.unknown(1, kMost)});
  a.attribute(Attr::group, a.unknown(1, kMost));
  a.attribute(Attr::kernel_shape, Index{two});
  a.attribute(Attr::strides, Index{one});
  a.attribute(Attr::pads, Index{zero, one});
  a.attribute(Attr::dilations, Index{one});
  return n == 0;
}

// Ranks 2 to 4.
inline bool batch_norm(Axiom& a, std::size_t n) {
  const z3::expr channels = a.operand(2 + n, kMost)[1];
  for (int i = 0; i < 4; ++i) a.operand({channels});
  a.attribute(Attr::epsilon, 0.0625);
  return n < 2;
}

// Ranks 1 to 3, from each axis, scales of each rank up to that, with and without a shift of the same rank.
// Sizes to 4 where one dim is normalised, to 3 where two are, to 2 where three are.
inline bool layer_norm(Axiom& a, std::size_t n) {
  Digits digits(n);
  const std::size_t rank = 1 + digits.below(3), axis = digits.below(3), scale = digits.below(4);
  const bool shifted = digits.below(2) == 1;
  if (axis >= rank || scale > rank) {
    a.skip();
    return digits.more();
  }
  const std::int64_t most = kMost + 1 - static_cast<std::int64_t>(rank - axis);
  a.operand(rank, most);
  a.allow_other_types();  // the op table refuses scales with dims before the axis
  const Index scales = a.operand(scale, most);
  if (shifted) a.operand(scales);
  a.attribute(Attr::axis, a.number(static_cast<std::int64_t>(axis)));
  a.attribute(Attr::epsilon, 0.0625);
  return digits.more();
}

// Each rank to 3, along each axis.
inline bool with_axis(Axiom& a, Digits& digits) {
  const std::size_t rank = 1 + digits.below(3), axis = digits.below(3);
  if (axis >= rank) {
    a.skip();
    return false;
  }
  a.operand(rank, kMost);
  a.attribute(Attr::axis, a.number(static_cast<std::int64_t>(axis)));
  return true;
}

inline bool softmax(Axiom& a, std::size_t n) {
  Digits digits(n);
  with_axis(a, digits);
  a.compare_roughly();
  return digits.more();
}

// Ranks 1 to 3, over each set of axes but the empty one, with the dims kept and without.
inline bool reduce(Axiom& a, std::size_t n) {
  Digits digits(n);
  const std::size_t rank = 1 + digits.below(3);
  const std::vector<std::size_t> axes = subset(3, digits);
  const std::size_t keep = digits.below(2);
  if (axes.empty() || axes.back() >= rank) {
    a.skip();
    return digits.more();
  }
  a.operand(rank, kMost);
  a.attribute(Attr::axes, numbers(a, axes));
  a.attribute(Attr::keepdims, a.number(static_cast<std::int64_t>(keep)));
  return digits.more();
}

// Ranks 3 to 5, the last with sizes to 3.
inline bool global_average_pool(Axiom& a, std::size_t n) {
  a.operand(3 + n, n == 2 ? kMost - 1 : kMost);
  return n < 2;
}

// Ranks 0 to 4, all permutations.
inline bool transpose(Axiom& a, std::size_t n) {
  std::size_t rank = 0, count = 1;
  while (n >= count) {
    n -= count;
    count *= ++rank;
  }
  Digits digits(n);
  a.operand(rank, kMost);
  a.attribute(Attr::perm, numbers(a, permutation(rank, digits)));
  return rank < 4 || digits.more();
}

// From each rank to 3 to each rank to 3, shapes of up to 64, 16 and 8 a dim.
inline bool reshape(Axiom& a, std::size_t n) {
  Digits digits(n);
  const std::size_t from = digits.below(4), to = digits.below(4);
  a.operand(from, kMost);
  a.attribute(Attr::shape, a.unknowns(to, 1, to == 1 ? 64 : to == 2 ? 16 : 8));
  return digits.more();
}

inline bool flatten(Axiom& a, std::size_t n) {
  Digits digits(n);
  const std::size_t rank = 1 + digits.below(3), axis = digits.below(4);
  if (axis > rank) {
    a.skip();
    return digits.more();
  }
  a.operand(rank, kMost);
  a.attribute(Attr::axis, a.number(static_cast<std::int64_t>(axis)));
  return digits.more();
}

// Each set of axes of each rank to 3.
inline bool squeeze(Axiom& a, std::size_t n) {
  Digits digits(n);
  const std::size_t rank = 1 + digits.below(3);
  const std::vector<std::size_t> axes = subset(3, digits);
  if (axes.empty() || axes.back() >= rank) {
    a.skip();
    return digits.more();
  }
  a.operand(rank, kMost);
  a.attribute(Attr::axes, numbers(a, axes));
  return digits.more();
}

// Ranks 0 to 3, to at most 5.
inline bool unsqueeze(Axiom& a, std::size_t n) {
  Digits digits(n);
  const std::size_t rank = digits.below(4);
  const std::vector<std::size_t> axes = subset(5, digits);
  if (axes.empty() || rank + axes.size() > 5 || axes.back() >= rank + axes.size()) {
    a.skip();
    return digits.more();
  }
  a.operand(rank, kMost);
  a.attribute(Attr::axes, numbers(a, axes));
  return digits.more();
}

// Two parts of each rank to 3; three parts of ranks to 2.
inline bool concat(Axiom& a, std::size_t n) {
  Digits digits(n);
  const bool three_parts = digits.below(2) == 1;
  const std::size_t rank = 1 + digits.below(3), axis = digits.below(3);
  if (axis >= rank || (three_parts && rank == 3)) {
    a.skip();
    return digits.more();
  }
  for (int i = 0; i < (three_parts ? 3 : 2); ++i) a.operand(rank, kMost);
  a.attribute(Attr::axis, a.number(static_cast<std::int64_t>(axis)));
  return digits.more();
}

// Into two and three parts, each of up to 4, whether they fit or not.
inline bool split(Axiom& a, std::size_t n) {
  Digits digits(n);
  const std::size_t parts = 2 + digits.below(2);
  if (with_axis(a, digits)) a.attribute(Attr::split, a.unknowns(parts, 0, kMost));
  a.outputs(parts);
  return digits.more();
}

// Along one dim of each rank to 3 and along both of two: bounds 0 to 4, steps to 3.
inline bool slice(Axiom& a, std::size_t n) {
  Digits digits(n);
  const std::size_t rank = 1 + digits.below(3);
  const std::vector<std::size_t> axes = subset(3, digits);
  if (axes.empty() || axes.back() >= rank || (axes.size() == 2 && rank == 3) || axes.size() == 3) {
    a.skip();
    return digits.more();
  }
  a.operand(rank, kMost);
  a.attribute(Attr::starts, a.unknowns(axes.size(), 0, kMost));
  a.attribute(Attr::ends, a.unknowns(axes.size(), 0, kMost));
  a.attribute(Attr::axes, numbers(a, axes));
  a.attribute(Attr::steps, a.unknowns(axes.size(), 1, axes.size() == 2 ? 2 : 3));
  return digits.more();
}

// Each rank to 3 along each axis, indices of each rank to 2, drawn from both ends.
inline bool gather(Axiom& a, std::size_t n) {
  Digits digits(n);
  const std::size_t rank = 1 + digits.below(3), axis = digits.below(3), rows = digits.below(3);
  if (axis >= rank) {
    a.skip();
    return digits.more();
  }
  a.operand(rank, kMost);
  a.rows(rows, kMost, axis);
  a.attribute(Attr::axis, a.number(static_cast<std::int64_t>(axis)));
  return digits.more();
}

inline std::vector<AxiomCase> axiom_cases() {
  std::vector<AxiomCase> out;
  const auto add = [&](OpKind kind, Maker make, std::size_t least, const std::string& what = "") {
    out.push_back({std::string(graph::op_info(kind).name) + what, kind, make, least});
  };
  for (const OpKind kind :
       {OpKind::relu, OpKind::sigmoid, OpKind::hard_swish, OpKind::tanh, OpKind::softplus, OpKind::erf,
        OpKind::exp, OpKind::log, OpKind::sqrt, OpKind::reciprocal, OpKind::neg, OpKind::abs, OpKind::floor,
        OpKind::ceil, OpKind::round, OpKind::sign, OpKind::sin, OpKind::cos, OpKind::identity})
    add(kind, unary, 1000);
  for (const OpKind kind : {OpKind::leaky_relu, OpKind::elu}) add(kind, unary_with_alpha, 1000);
  add(OpKind::hard_sigmoid, hard_sigmoid, 1000);
  for (const OpKind kind : {OpKind::add, OpKind::sub, OpKind::mul, OpKind::div, OpKind::pow, OpKind::max,
                            OpKind::min, OpKind::sum, OpKind::equal, OpKind::greater, OpKind::less,
                            OpKind::greater_or_equal, OpKind::less_or_equal})
    add(kind, binary, 10000);
  add(OpKind::prelu, prelu, 1000);
  for (const OpKind kind : {OpKind::sum, OpKind::max, OpKind::min}) add(kind, three, 1000, "OfThree");
  add(OpKind::matmul, matmul, 10000);
  add(OpKind::gemm, gemm, 10000);
  add(OpKind::conv, conv_1d, 10000, "OverOneDim");
  add(OpKind::conv, conv_2d, 10000, "OverTwoDims");
  add(OpKind::conv, conv_channels, 1000, "Channels");
  add(OpKind::batch_norm, batch_norm, 10000);
  add(OpKind::layer_norm, layer_norm, 1000);
  add(OpKind::softmax, softmax, 1000);
  add(OpKind::reduce_mean, reduce, 1000);
  add(OpKind::reduce_sum, reduce, 1000);
  add(OpKind::global_average_pool, global_average_pool, 1000);
  add(OpKind::transpose, transpose, 10000);
  add(OpKind::reshape, reshape, 1000);
  add(OpKind::flatten, flatten, 1000);
  add(OpKind::squeeze, squeeze, 100);
  add(OpKind::unsqueeze, unsqueeze, 10000);
  add(OpKind::concat, concat, 10000);
  add(OpKind::split, split, 1000);
  add(OpKind::slice, slice, 1000);
  add(OpKind::gather, gather, 10000);
  return out;
}

}
