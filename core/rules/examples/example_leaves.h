#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/graph/graph_builder.h"
#include "core/rules/compile/op_domain.h"
#include "core/rules/examples/example_limits.h"
#include "core/rules/examples/rule_hints.h"

namespace regraft::rules {

/// The inputs and constants of an example: their element types and what the constants hold. Of constants some
/// are positive, some of both signs, some hold zeros too, some are large or small.
class ExampleLeaves {
  using Value = graph::Value;
  using Dims = graph::Ints;
  using K = graph::OpKind;

 public:
  ExampleLeaves(const CompiledRule& rule, graph::GraphBuilder& builder, Choices& choices,
                const ExampleLimits& limits)
      : b_(builder), choices_(choices), limits_(limits) {
    compares_integers_ = needs_floats(rule) && only_compared(rule);
    if (quantises(rule)) bytes_ = choices.drawn(2) == 0 ? graph::DType::int8 : graph::DType::uint8;
    if (!limits.types_vary) return;
    if (compares_integers_ && choices.drawn(2) == 0) compared_ = graph::DType::int32;
    if (!needs_floats(rule) && choices.pick({0, 0, 0, 1}) == 1)  // an enumeration sees both
      number_ = choices.drawn(4) == 0 ? graph::DType::int32 : graph::DType::int64;
    else if (limits.doubles && choices.drawn(12) == 0)
      number_ = choices.drawn(3) == 0 && limits.numbers.in_half_floats() ? graph::DType::float16
                                                                         : graph::DType::float64;
  }

  bool integers() const { return !graph::is_float(number_); }
  /// Whether the op takes elements of the example's type.
  bool takes(K kind) const {
    constexpr std::array kOfIntegers = {K::relu, K::neg, K::abs, K::sign,  K::add,     K::sub,  K::mul,
                                        K::div,  K::max, K::min, K::equal, K::greater, K::less, K::identity};
    const bool free = !graph::op_info(kind).is(graph::kElementwise) || kind == K::where;
    return !integers() || free ||
           std::find(kOfIntegers.begin(), kOfIntegers.end(), kind) != kOfIntegers.end();
  }

  /// Few binary digits, so that float32 holds it and what rules make of it.
  double real(double low, double high) { return std::round(64 * b_.rng().uniform(low, high)) / 64; }
  /// A usual epsilon, which the type holds.
  double small() const { return number_ == graph::DType::float16 ? 0x1p-12 : double{1e-5F}; }
  /// A number for an attribute, of any size.
  double number() { return near_named().value_or(signed_real(0.5, 2) * some_power()); }
  /// Once in a while, one on, beside or beyond a number that the rule names, of either sign. Numbers are no
  /// decisions (Choices): none may depend on whether there is one.
  std::optional<double> near_named() {
    const std::vector<double>& named = limits_.numbers.reals;
    if (named.empty() || b_.rng().below(4) > 0) return std::nullopt;
    const double number = named[b_.rng().below(named.size())];
    if (number_ == graph::DType::float16) return number;
    const std::array near = {number, number + 0.25, number - 0.25, 2 * number, number / 2};
    return short_of(near[b_.rng().below(near.size())]) * (b_.rng().below(3) == 0 ? -1 : 1);
  }
  double signed_real(double low, double high) { return real(low, high) * (b_.rng().below(3) == 0 ? -1 : 1); }

  /// Operand `position` of an op of this kind.
  Value tensor(const RuleHints::OfTensor& hint, const Dims& dims, K kind, std::size_t position) {
    const bool truth = (kind == K::where && position == 0) || kind == K::logical_not ||
                       kind == K::logical_and || kind == K::logical_or;
    const bool bytes = (kind == K::quantize_linear || kind == K::dequantize_linear) &&
                       (position == 2 || (position == 0 && kind == K::dequantize_linear));
    const graph::DType dtype = truth                                    ? graph::DType::boolean
                               : bytes                                  ? bytes_
                               : compares_integers_ && kind == K::equal ? compared_
                                                                        : number_;
    if (hint.counts) return count_up(dims, dtype);
    if (hint.value) return constant({}, dtype, {*hint.value});
    if (hint.scalar && !choices_.one_in(4)) {
      const double value =
          b_.rng().below(8) == 0 ? 0 : near_named().value_or(signed_real(0.3, 2) * some_power());
      return constant(choices_.one_in(2) ? Dims{} : Dims{1}, dtype,
                      {integers() ? std::ceil(2 * value) : value});
    }
    const bool is_constant = hint.constant || (!hint.varies && limits_.constants_vary && choices_.one_in(8));
    const bool variance = kind == K::batch_norm && position == 4;
    if (!is_constant) return shared_or_new(dims, dtype);
    return constant(dims, dtype, numbers(dims, dtype, variance));
  }

 private:
  // Whether the rule compares tensors for equality, and no other op of its left side reads these.
  static bool only_compared(const CompiledRule& rule) {
    std::set<std::pair<std::int16_t, std::uint16_t>> compared, others;
    for (const PatternNode& node : rule.nodes) {
      const bool equal = node.kinds.count() == 1 && node.kinds.test(static_cast<std::size_t>(K::equal));
      for (const OperandPattern& operand : node.operands)
        (equal ? compared : others).emplace(operand.slot.member_set, operand.slot.index);
    }
    return !compared.empty() &&
           std::ranges::none_of(compared, [&](const auto& slot) { return others.contains(slot); });
  }
  static bool quantises(const CompiledRule& rule) {
    return std::ranges::any_of(rule.nodes, [](const PatternNode& node) {
      return node.kinds.count() == 1 && (node.kinds.test(static_cast<std::size_t>(K::quantize_linear)) ||
                                         node.kinds.test(static_cast<std::size_t>(K::dequantize_linear)));
    });
  }
  // Along the last dim.
  Value count_up(Dims dims, graph::DType dtype) {
    if (dims.empty()) dims = {1};
    std::fill(dims.begin(), dims.end() - 1, 1);
    std::vector<double> values(static_cast<std::size_t>(dims.back()));
    std::iota(values.begin(), values.end(), 0);
    return constant(dims, dtype, values);
  }
  // With so few binary digits that float32 holds a product of two.
  static double short_of(double number) {
    constexpr double kDigits = 0x1p11;
    int power = 0;
    const double digits = std::round(kDigits * std::frexp(number, &power));
    return std::ldexp(digits / kDigits, power);
  }
  // One tensor may be read in two places.
  Value shared_or_new(const Dims& dims, graph::DType dtype) {
    if (choices_.drawn(12) == 0) {
      for (const Value held : inputs_) {
        const graph::TensorType& type = b_.graph().type(held);
        if (type.dtype == dtype && std::equal(type.dims.begin(), type.dims.end(), dims.begin(), dims.end()))
          return held;
      }
    }
    inputs_.push_back(b_.input(dims, dtype));
    return inputs_.back();
  }

  // What the elements of one constant in eight are multiplied by.
  double some_power() {
    constexpr int kLeast = -20, kLeastOfHalfs = -4, kMost = 6;
    if (b_.rng().below(8) > 0) return 1;
    const int least = number_ == graph::DType::float16 ? kLeastOfHalfs : kLeast;
    return std::ldexp(
        1, static_cast<int>(b_.rng().below(static_cast<std::uint64_t>(kMost + 1 - least))) + least);
  }

  std::vector<double> numbers(const Dims& dims, graph::DType dtype, bool positive) {
    std::size_t count = 1;
    for (const std::int64_t d : dims) count *= static_cast<std::size_t>(d);
    std::vector<double> out(count);
    const std::size_t kind = positive ? 0 : static_cast<std::size_t>(b_.rng().below(4));
    const double size = some_power();
    for (double& value : out) {
      value = size * b_.rng().uniform(0.3, 1.5);
      if (kind > 0 && b_.rng().below(2) == 0) value = -value;
      if (kind > 2 && b_.rng().below(4) == 0) value = 0;
      if (graph::is_integer(dtype)) value = std::round(4 * value);
      if (dtype == graph::DType::uint8) value = std::min(std::abs(value), 255.0);
      if (dtype == graph::DType::int8) value = std::clamp(value, -128.0, 127.0);
      if (dtype == graph::DType::boolean) value = value > 0 ? 1 : 0;
    }
    return out;
  }

  Value constant(const Dims& dims, graph::DType dtype, const std::vector<double>& values) {
    graph::HostTensor host;
    host.dtype = dtype;
    host.dims = dims;
    for (const double value : values) {
      if (graph::is_float(dtype))
        host.real.push_back(value);
      else
        host.integer.push_back(static_cast<std::int64_t>(value));
    }
    const auto type = b_.tables().intern(dtype, dims);
    return b_.graph().weight_value(b_.tables().weights().literal(type, host.to_bytes()));
  }

  graph::GraphBuilder& b_;
  Choices& choices_;
  const ExampleLimits& limits_;
  graph::DType number_ = graph::DType::float32;
  bool compares_integers_ = false;  // what is compared is no part of what is computed with
  graph::DType compared_ = graph::DType::int64;
  graph::DType bytes_ = graph::DType::uint8;  // of all that is quantised
  std::vector<Value> inputs_;
};

}
