#include "core/rules/rewrite/same_value.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "core/rules/graph_builder.h"

namespace regraft::rules {
namespace {

using graph::DType;
using graph::HostTensor;
using namespace testing;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

HostTensor values_of(DType dtype) {
  HostTensor made{dtype, {2, 3}, {}, {}};
  if (graph::is_float(dtype))
    made.real = {0.0, -0.0, 1.5, -kInfinity, std::nan(""), -2};
  else
    made.integer = {0, 1, -1, 7, -7, 100};
  return made;
}

std::vector<std::uint64_t> bits(const HostTensor& tensor) {
  std::vector<std::uint64_t> made;
  for (const double x : tensor.real) made.push_back(std::isnan(x) ? 0 : std::bit_cast<std::uint64_t>(x));
  for (const std::int64_t x : tensor.integer) made.push_back(static_cast<std::uint64_t>(x));
  return made;
}

// What is said to be the same is so, to the bit, and nothing is missed: each operation beside each number.
TEST(SameValue, OfANumberBesideIsWhatEvaluationSays) {
  for (const OpKind kind : {OpKind::add, OpKind::sub, OpKind::mul, OpKind::div})
    for (const DType dtype : {DType::float32, DType::int32})
      for (const double number : {0.0, -0.0, 1.0, 2.0})
        for (const bool swapped : {false, true}) {
          if (kind == OpKind::div && dtype == DType::int32 && (swapped || number == 0)) continue;
          GraphBuilder b;
          const Value x = b.input({2, 3}, dtype);
          const Value c = b.graph().weight_value(b.tables().weights().scalar(dtype, number));
          const NodeId id = b.node(kind, swapped ? std::vector{c, x} : std::vector{x, c});
          const HostTensor in = values_of(dtype),
                           beside = graph::evaluate(b.tables(), b.graph().weight_of(c));
          const std::vector<const HostTensor*> operands{swapped ? &beside : &in, swapped ? &in : &beside};
          const bool same = bits(graph::evaluate_op(kind, b.graph().attrs(id), operands)[0]) == bits(in);
          EXPECT_EQ(same_value(b.graph(), id), same ? std::optional(x) : std::nullopt)
              << graph::op_info(kind).name << " " << number << (swapped ? " first" : "");
        }
}

// Types without a rank are equal though one is that of a scalar, which [1] makes a vector.
TEST(SameValue, BesideANumberOfSomeRankTheOperandsIsKnown) {
  GraphBuilder b;
  const graph::TypeId unranked = b.tables().intern(graph::TensorType{DType::float32, false, {}});
  const Value x{b.graph().add_input(unranked, 0), 0}, y{b.graph().add_input(unranked, 1), 0};
  const Value yes = b.graph().weight_value(b.tables().weights().scalar(DType::boolean, 1));
  const auto same = [&](OpKind kind, std::vector<Value> inputs) {
    const NodeId id = b.graph().add(kind, graph::AttrId{}, inputs, std::array{unranked});
    return same_value(b.graph(), id);
  };
  EXPECT_EQ(same(OpKind::mul, {x, b.scalar(1)}), std::optional(x));
  EXPECT_EQ(same(OpKind::mul, {x, b.literal({1}, {1})}), std::nullopt);
  EXPECT_EQ(same(OpKind::where, {yes, x, y}), std::nullopt) << "y may have more dims";
}

TEST(SameValue, OfWhatLeavesItsOperandAsItIs) {
  GraphBuilder b;
  const Value x = b.input({1, 2, 3}), y = b.input({3}, DType::int64), p = b.input({3}, DType::boolean);
  const Value yes = b.graph().weight_value(b.tables().weights().scalar(DType::boolean, 1));
  const Value floor = b.op(OpKind::floor, {x}), none = {};
  const auto turned = [&](graph::Ints perm) -> Value {
    return b.op(OpKind::transpose, {x}, {{Attr::perm, std::move(perm)}});
  };
  const std::vector<std::pair<Value, Value>> cases{
      {b.op(OpKind::pow, {x, b.scalar(1)}), x},
      {b.op(OpKind::pow, {y, b.integers({1})}), none},  // runtimes round powers of integers
      {b.op(OpKind::mul, {y, b.integers({1, 1, 1})}), y},
      {b.op(OpKind::mul, {y, b.integers({1, 2, 1})}), none},
      {b.op(OpKind::mul, {y, b.integers({2, 3}, {1, 1, 1, 1, 1, 1})}), none},  // more elements
      {b.op(OpKind::add, {x, b.literal({1}, {-0.0F})}), x},
      {b.op(OpKind::add, {x, b.literal({1}, {0})}), none},
      {b.op(OpKind::add, {x, b.literal({3}, {-0.0F, -0.0F, -0.0F})}), none},  // runtimes fuse it as a bias
      {b.op(OpKind::logical_and, {p, yes}), p},
      {b.op(OpKind::where, {yes, y, b.integers({5, 6, 7})}), y},
      {b.op(OpKind::sum, {x}), x},
      {b.op(OpKind::tile, {x, b.integers({1, 1, 1})}), x},
      {b.op(OpKind::pad, {x, b.integers({0, 0, 0, 0, 0, 0})}), x},
      {b.op(OpKind::reshape, {x, b.integers({1, 2, 3})}), x},
      {b.op(OpKind::reshape, {x, b.integers({1, 3, 2})}), none},
      {turned({0, 1, 2}), x},
      {turned({1, 0, 2}), none},
      {b.op(OpKind::neg, {b.op(OpKind::neg, {y})}), y},
      {b.op(OpKind::neg, {b.op(OpKind::relu, {x})}), none},
      {b.op(OpKind::logical_not, {b.op(OpKind::logical_not, {p})}), p},
      {b.op(OpKind::floor, {floor}), floor},
      {b.op(OpKind::tanh, {b.op(OpKind::tanh, {x})}), none}};
  for (std::size_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(same_value(b.graph(), cases[i].first.node).value_or(none), cases[i].second) << i;
}

TEST(SameValue, RuntimesDropAnAdditionOfZero) {
  GraphBuilder b;
  const Value x = b.input({1, 2, 3}), zero = b.literal({1}, {0}), row = b.literal({3}, {0, 0, 0});
  const auto as_runtimes = [&](Value value) { return same_value(b.graph(), value.node, true); };
  EXPECT_EQ(as_runtimes(b.op(OpKind::add, {x, zero})), x);
  EXPECT_EQ(as_runtimes(b.op(OpKind::add, {x, row})), std::nullopt);
  EXPECT_EQ(as_runtimes(b.op(OpKind::neg, {b.op(OpKind::neg, {x})})), std::nullopt);
}

/// A type, and numbers of it that are hard to hold: all digits of its largest, and its least.
struct TypeLimits {
  DType type;
  long double lowest, largest, least;
  int digits;
};

template <typename T>
TypeLimits limits(DType type) {
  using Limits = std::numeric_limits<T>;
  return {type, Limits::lowest(), Limits::max(), std::is_integral_v<T> ? 1 : Limits::denorm_min(),
          Limits::digits};
}

TEST(HoldsAll, WhereEachNumberOfOneTypeIsOneOfTheOther) {
  const std::vector<TypeLimits> types{
      limits<float>(DType::float32),
      limits<double>(DType::float64),
      limits<bool>(DType::boolean),
      limits<std::int8_t>(DType::int8),
      limits<std::uint8_t>(DType::uint8),
      limits<std::int32_t>(DType::int32),
      limits<std::int64_t>(DType::int64),
      limits<std::uint64_t>(DType::uint64),
      {DType::float16, -65504, 65504, std::ldexp(1.0L, -24), 11},
      {DType::bfloat16, -0x1.FEp127L, 0x1.FEp127L, std::ldexp(1.0L, -133), 8}};
  for (const TypeLimits& type : types)
    for (const TypeLimits& of : types)
      EXPECT_EQ(holds_all(type.type, of.type), type.lowest <= of.lowest && of.largest <= type.largest &&
                                                   type.least <= of.least && of.digits <= type.digits)
          << graph::dtype_name(type.type) << " of " << graph::dtype_name(of.type);
  EXPECT_FALSE(holds_all(DType::string, DType::string)) << "of these nothing is known";
}

}  // namespace
}
