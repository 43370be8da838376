#include "core/graph/evaluate.h"
#include "core/graph/constants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/base/rng.h"
#include "core/graph/host_tensors.h"

namespace regraft::graph {
namespace {

using namespace test;

TEST(Convert, RoundsHalvesToNearestEven) {
  const auto half = [](double value) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, reals({1}, {value}, DType::float16).to_bytes().data(), 2);
    return bits;
  };
  EXPECT_EQ(half(1.0), 0x3C00);
  EXPECT_EQ(half(-2.0), 0xC000);
  EXPECT_EQ(half(65504.0), 0x7BFF);
  EXPECT_EQ(half(65519.9), 0x7BFF);
  EXPECT_EQ(half(65520.0), 0x7C00) << "ties up to infinity";
  EXPECT_EQ(half(1.0 + 1.0 / 2048), 0x3C00) << "a tie goes to the even mantissa";
  EXPECT_EQ(half(1.0 + 3.0 / 2048), 0x3C02);
  EXPECT_EQ(half(std::ldexp(1, -24)), 0x0001) << "the smallest denormal";
  EXPECT_EQ(half(std::ldexp(1, -25)), 0x0000) << "half of it is a tie";
  EXPECT_EQ(half(std::ldexp(1.5, -25)), 0x0001);
  EXPECT_EQ(half(std::ldexp(1, -14)), 0x0400);
  EXPECT_EQ(half(kInfinity), 0x7C00);
  EXPECT_EQ(half(kNaN) & 0x7E00, 0x7E00);
}

TEST(Convert, EveryHalfSurvivesARoundTrip) {
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    std::vector<std::uint16_t> bits(65536);
    std::iota(bits.begin(), bits.end(), std::uint16_t{0});
    const auto tensor = HostTensor::from_bytes({dtype, true, {65536}}, std::as_bytes(std::span(bits)));
    const auto back = tensor.to_bytes();
    for (std::size_t i = 0; i < bits.size(); ++i) {
      std::uint16_t written = 0;
      std::memcpy(&written, back.data() + 2 * i, 2);
      if (!std::isnan(tensor.real[i])) {
        EXPECT_EQ(written, bits[i]);
      }
    }
  }
}

TEST(Convert, BfloatIsTheRoundedTopOfAFloat) {
  Rng rng(1, "bfloat");
  for (int i = 0; i < 2000; ++i) {
    const auto value = static_cast<float>(rng.normal() * std::exp(10 * rng.normal()));
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;  // nearest even on the bits
    std::uint16_t written = 0;
    std::memcpy(&written, reals({1}, {value}, DType::bfloat16).to_bytes().data(), 2);
    EXPECT_EQ(written, rounded) << value << ", seed 1";
  }
}

TEST(Convert, IntegersKeepTheirBits) {
  const std::vector<std::int64_t> values{std::numeric_limits<std::int64_t>::min(), -1, 0,
                                         (std::int64_t{1} << 53) + 1};
  const auto tensor = HostTensor::from_bytes({DType::int64, true, {4}}, std::as_bytes(std::span(values)));
  EXPECT_EQ(tensor.integer, values);
  const auto bytes = tensor.to_bytes();
  EXPECT_EQ(std::memcmp(bytes.data(), values.data(), bytes.size()), 0);
  EXPECT_THROW(HostTensor::from_bytes({DType::int64, true, {5}}, std::as_bytes(std::span(values))),
               GraphError);
}

struct UnaryCase {
  OpKind kind;
  double (*reference)(double);
};

TEST(Elementwise, FunctionsAgreeWithTheMathsLibrary) {
  const UnaryCase cases[] = {
      {OpKind::exp, [](double x) { return std::exp(x); }},
      {OpKind::log, [](double x) { return std::log(x); }},
      {OpKind::tanh, [](double x) { return std::tanh(x); }},
      {OpKind::erf, [](double x) { return std::erf(x); }},
      {OpKind::sin, [](double x) { return std::sin(x); }},
      {OpKind::cos, [](double x) { return std::cos(x); }},
      {OpKind::sqrt, [](double x) { return std::sqrt(x); }},
      {OpKind::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {OpKind::softplus, [](double x) { return std::log1p(std::exp(x)); }},
      {OpKind::relu, [](double x) { return x > 0 ? x : 0.0; }},
      {OpKind::round, [](double x) { return std::nearbyint(x); }},
      {OpKind::reciprocal, [](double x) { return 1 / x; }},
  };
  Rng rng(2, "functions");
  std::vector<double> values;
  for (int i = 0; i < 4000; ++i) values.push_back(rng.normal() * (i % 4 == 0 ? 30 : 1.5));
  for (const UnaryCase& test : cases) {
    std::vector<double> inputs = values;
    if (test.kind == OpKind::log || test.kind == OpKind::sqrt)
      for (double& value : inputs) value = std::abs(value) + 1e-300;
    const HostTensor result = run(test.kind, {}, {reals({static_cast<std::int64_t>(inputs.size())}, inputs)});
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const double wanted = test.reference(inputs[i]);
      const double slack = 4e-15 * std::max(std::abs(wanted), 1e-3);
      EXPECT_NEAR(result.real[i], wanted, slack)
          << op_info(test.kind).name << "(" << inputs[i] << "), seed 2";
    }
  }
}

TEST(Elementwise, PowAgreesWithTheMathsLibrary) {
  Rng rng(3, "pow");
  for (int i = 0; i < 2000; ++i) {
    const double base = std::abs(rng.normal()) + 0.01, exponent = rng.normal() * 3;
    const double value = run(OpKind::pow, {}, {reals({}, {base}), reals({}, {exponent})}).real[0];
    EXPECT_NEAR(value, std::pow(base, exponent), 1e-13 * std::pow(base, exponent)) << "seed 3";
  }
  const auto pow = [](double x, double y) {
    return run(OpKind::pow, {}, {reals({}, {x}), reals({}, {y})}).real[0];
  };
  EXPECT_EQ(pow(-2, 3), -8);
  EXPECT_EQ(pow(-2, 2), 4);
  EXPECT_EQ(pow(4, 0.5), 2);
  EXPECT_EQ(pow(0, 0), 1);
  EXPECT_EQ(pow(0, -1), kInfinity);
  EXPECT_TRUE(std::isnan(pow(-2, 0.3)));
}

TEST(Elementwise, BinaryOpsBroadcastLikeAReference) {
  Rng rng(4, "broadcast");
  const std::vector<std::pair<Index, Index>> shapes{{{2, 3}, {2, 3}}, {{2, 3}, {3}}, {{2, 1, 4}, {3, 1}},
                                                    {{}, {2, 2}},     {{1}, {5}},    {{4, 1}, {1, 3}},
                                                    {{0, 3}, {3}}};
  const std::vector<std::pair<OpKind, double (*)(double, double)>> ops{
      {OpKind::add, [](double a, double b) { return a + b; }},
      {OpKind::sub, [](double a, double b) { return a - b; }},
      {OpKind::mul, [](double a, double b) { return a * b; }},
      {OpKind::div, [](double a, double b) { return a / b; }},
      {OpKind::max, [](double a, double b) { return std::max(a, b); }},
      {OpKind::min, [](double a, double b) { return std::min(a, b); }},
      {OpKind::prelu, [](double a, double b) { return a < 0 ? a * b : a; }}};
  for (const auto& [left, right] : shapes)
    for (const auto& op : ops) {
      const OpKind kind = op.first;
      const auto reference = op.second;
      const HostTensor a = random_reals(left, rng), b = random_reals(right, rng);
      const HostTensor result = run(kind, {}, {a, b});
      each(result.dims, [&](const Index& at) {
        const auto element = [&](const HostTensor& x) {
          Index own(at.end() - static_cast<std::ptrdiff_t>(x.dims.size()), at.end());
          for (std::size_t i = 0; i < own.size(); ++i)
            if (x.dims[i] == 1) own[i] = 0;
          return x.real[flat(x.dims, own)];
        };
        EXPECT_EQ(result.real[flat(result.dims, at)], reference(element(a), element(b)));
      });
    }
  EXPECT_THROW(run(OpKind::add, {}, {reals({2}, {1, 2}), reals({3}, {1, 2, 3})}), GraphError);
}

TEST(Elementwise, IntegersWrapAndDivideTowardsZero) {
  const auto bytes = [](std::int64_t v) { return integers({1}, {v}, DType::int8); };
  EXPECT_EQ(run(OpKind::add, {}, {bytes(127), bytes(1)}).integer[0], -128);
  EXPECT_EQ(run(OpKind::mul, {}, {bytes(100), bytes(3)}).integer[0], 44);
  EXPECT_EQ(run(OpKind::div, {}, {bytes(-7), bytes(2)}).integer[0], -3);
  EXPECT_THROW(run(OpKind::div, {}, {bytes(1), bytes(0)}), GraphError);
  const auto lowest = integers({1}, {std::numeric_limits<std::int64_t>::min()});
  EXPECT_EQ(run(OpKind::div, {}, {lowest, integers({1}, {-1})}).integer[0], lowest.integer[0]);
  EXPECT_EQ(run(OpKind::neg, {}, {bytes(-128)}).integer[0], -128);
}

/// Runtimes raise integers to a power in fp64.
TEST(Elementwise, IntegerPowersAreThoseThatAreExactInDoubles) {
  const auto power = [](std::int64_t base, std::int64_t exponent) {
    return run(OpKind::pow, {}, {integers({1}, {base}), integers({1}, {exponent})}).integer[0];
  };
  EXPECT_EQ(power(3, 4), 81);
  EXPECT_EQ(power(-2, 53), -(std::int64_t{1} << 53));
  EXPECT_EQ(power(0, 1'000'000'000'000), 0);
  EXPECT_EQ(power(-1, -3), -1);
  EXPECT_EQ(power(7, -1), 0);
  EXPECT_EQ(power(0, 0), 1);
  EXPECT_THROW(power(3, 39), GraphError);
  EXPECT_THROW(power(10, 1'000'000'000'000), GraphError);
  EXPECT_THROW(power(0, -1), GraphError);
}

TEST(Elementwise, LargeIntegersAreClippedExactly) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 53;
  const HostTensor x = integers({3}, {kLarge + 1, -kLarge - 1, 5});
  const HostTensor result = run(OpKind::clip, {}, {x, integers({}, {-kLarge}), integers({}, {kLarge})});
  EXPECT_EQ(result.integer, (std::vector<std::int64_t>{kLarge, -kLarge, 5}));
}

TEST(Elementwise, CastsRoundAndTruncate) {
  const auto to = [](DType dtype) { return AttrBlock{{Attr::to, static_cast<std::int64_t>(dtype)}}; };
  const HostTensor x = reals({4}, {1.9, -1.9, 300.5, kNaN}), numbers = reals({3}, {1.9, -1.9, 300.5});
  EXPECT_EQ(run(OpKind::cast, to(DType::int64), {numbers}).integer, (std::vector<std::int64_t>{1, -1, 300}));
  EXPECT_EQ(run(OpKind::cast, to(DType::uint8), {reals({2}, {255.9, -0.9})}).integer[0], 255);
  for (const double beyond : {kNaN, kInfinity, 256.0, -1.0})
    EXPECT_THROW(run(OpKind::cast, to(DType::uint8), {reals({1}, {beyond})}), GraphError) << beyond;
  EXPECT_THROW(run(OpKind::cast, to(DType::int64), {reals({1}, {0x1p63})}), GraphError);
  EXPECT_EQ(run(OpKind::cast, to(DType::int64), {reals({1}, {-0x1p63})}).integer[0],
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(run(OpKind::cast, to(DType::boolean), {x}).integer, (std::vector<std::int64_t>{1, 1, 1, 1}));
  EXPECT_EQ(run(OpKind::cast, to(DType::float32), {reals({1}, {0.1})}).real[0], static_cast<double>(0.1f));
  EXPECT_EQ(run(OpKind::cast, to(DType::int8), {integers({1}, {200})}).integer[0], -56);
  const HostTensor like = run(OpKind::cast_like, {}, {integers({1}, {3}), reals({1}, {0}, DType::float32)});
  EXPECT_EQ(like.dtype, DType::float32);
  EXPECT_EQ(like.real[0], 3.0);
}

TEST(Elementwise, WhereAndComparisons) {
  const HostTensor condition = integers({2, 1}, {1, 0}, DType::boolean);
  const HostTensor result = run(OpKind::where, {}, {condition, integers({3}, {1, 2, 3}), integers({1}, {9})});
  EXPECT_EQ(result.dims, (Index{2, 3}));
  EXPECT_EQ(result.integer, (std::vector<std::int64_t>{1, 2, 3, 9, 9, 9}));
  const HostTensor greater = run(OpKind::greater, {}, {reals({3}, {1, 2, kNaN}), reals({1}, {1.5})});
  EXPECT_EQ(greater.dtype, DType::boolean);
  EXPECT_EQ(greater.integer, (std::vector<std::int64_t>{0, 1, 0}));
  const HostTensor clipped =
      run(OpKind::clip, {{Attr::min, -1.0}, {Attr::max, 2.0}}, {reals({3}, {-5, 0, 5})});
  EXPECT_EQ(clipped.real, (std::vector<double>{-1, 0, 2}));
}

TEST(Fold, SharesAndFreesSubExpressions) {
  Tables tables;
  const Dim dims[] = {2, 2};
  const std::vector<float> values{1, 2, 3, 4};
  const WeightId w =
      tables.weights().literal(tables.intern(DType::float32, dims), std::as_bytes(std::span(values)));
  const AttrId none = tables.intern(AttrBlock{});
  const WeightId pair[] = {w, w};
  const WeightId doubled = constant_operation(tables, OpKind::add, none, pair);
  const WeightId both[] = {doubled, w};
  const WeightId product = constant_operation(tables, OpKind::matmul, none, both);
  const HostTensor result = evaluate(tables, product);
  EXPECT_EQ(result.dtype, DType::float32);
  EXPECT_EQ(result.real, (std::vector<double>{14, 20, 30, 44}));
}

TEST(Fold, BytesOfAMovementAreThoseOfItsValues) {
  for (const DType dtype : {DType::float32, DType::int8, DType::float16, DType::int64, DType::float64}) {
    Tables tables;
    WeightTable& weights = tables.weights();
    const auto attrs = [&](const AttrBlock& block) { return tables.intern(block); };
    HostTensor x = numbered({6, 4, 5});
    x.dtype = dtype;
    if (is_float(dtype)) x.real.assign(x.integer.begin(), x.integer.end());
    const Dim dims[] = {6, 4, 5};
    const std::vector<std::byte> bytes = x.to_bytes();
    std::vector<std::byte> odd(bytes.size() + 1);  // contents at an odd address, as in a file
    std::copy(bytes.begin(), bytes.end(), odd.begin() + 1);
    const WeightId source = weights.source(tables.intern(dtype, dims), std::span(odd).subspan(1), 0);
    const auto one = [&](OpKind kind, const AttrBlock& block, WeightId arg, std::uint32_t output = 0) {
      return constant_operation(tables, kind, attrs(block), std::span(&arg, 1), output);
    };
    const WeightId turned = one(OpKind::transpose, {{Attr::perm, Ints{2, 0, 1}}}, source);
    const WeightId flat = one(OpKind::reshape, {{Attr::shape, Ints{5, 24}}}, turned);
    const WeightId part =
        one(OpKind::split, {{Attr::axis, std::int64_t{1}}, {Attr::split, Ints{10, 14}}}, flat, 1);
    const WeightId again = one(OpKind::unsqueeze, {{Attr::axes, Ints{0}}}, part);
    const WeightId tiled = one(OpKind::tile, {{Attr::repeats, Ints{2, 1, 1}}}, again);
    const WeightId both[] = {tiled, again, again};
    const WeightId joined =
        constant_operation(tables, OpKind::concat, attrs({{Attr::axis, std::int64_t{0}}}), both);
    for (const WeightId id : {source, turned, flat, part, again, tiled, joined})
      EXPECT_EQ(evaluate_bytes(tables, id), evaluate(tables, id).to_bytes()) << dtype_name(dtype);
    const WeightId sum_args[] = {joined, joined};
    const WeightId sum = constant_operation(tables, OpKind::add, attrs({}), sum_args);
    EXPECT_EQ(evaluate_bytes(tables, sum), evaluate(tables, sum).to_bytes());
  }
}

TEST(Fold, TakesLongChains) {
  Tables tables;
  const float one = 1;
  WeightId at =
      tables.weights().literal(tables.intern(DType::float32, {}), std::as_bytes(std::span(&one, 1)));
  const WeightId step = at;
  const AttrId none = tables.intern(AttrBlock{});
  constexpr int kLength = 100000;
  for (int i = 0; i < kLength; ++i) {
    const WeightId args[] = {at, step};
    at = constant_operation(tables, OpKind::add, none, args);
  }
  EXPECT_EQ(evaluate(tables, at).real[0], kLength + 1);
}

TEST(Fold, KnowsWhatItCannotDo) {
  Tables tables;
  const Dim dims[] = {2, symbol_dim(tables.symbol("batch"))};
  const TypeId fixed = tables.intern(DType::float32, std::span(dims, 1));
  const TypeId open = tables.intern(DType::float32, dims);
  const TypeId text = tables.intern(DType::string, std::span(dims, 1));
  EXPECT_TRUE(can_evaluate(tables, OpKind::relu, std::span(&fixed, 1)));
  EXPECT_FALSE(can_evaluate(tables, OpKind::relu, std::span(&open, 1)));
  EXPECT_FALSE(can_evaluate(tables, OpKind::identity, std::span(&text, 1)));
  EXPECT_FALSE(can_evaluate(tables, OpKind::conv, std::span(&fixed, 1)));
  const TypeId whole = tables.intern(DType::int32, std::span(dims, 1));
  EXPECT_FALSE(can_evaluate(tables, OpKind::exp, std::span(&whole, 1)));
}

}  // namespace
}
