#include <gtest/gtest.h>

#include "core/graph/graph_builder.h"
#include "core/rulegen/enumerate/prime_field.h"
#include "core/rulegen/enumerate/term.h"
#include "core/rules/interpreter.h"

namespace regraft::rulegen {
namespace {

using A = graph::Attr;
using K = graph::OpKind;
using Ints = std::vector<std::int64_t>;

// Small integers, so that fp64 is exact too.
std::map<std::int32_t, HostTensor> small_inputs(const graph::Graph& graph, Rng& rng) {
  auto inputs = rules::testing::random_inputs(graph, rng);
  for (auto& [origin, tensor] : inputs) {
    for (double& v : tensor.real) v = static_cast<double>(rng.below(9)) - 4;
  }
  return inputs;
}

std::map<std::int32_t, HostTensor> in_field(const std::map<std::int32_t, HostTensor>& inputs) {
  std::map<std::int32_t, HostTensor> out;
  for (const auto& [origin, tensor] : inputs) {
    HostTensor& t = out[origin];
    t.dtype = graph::DType::int64;
    t.dims = tensor.dims;
    for (double v : tensor.real) t.integer.push_back(field_number(v));
  }
  return out;
}

void expect_same_as_reference(graph::GraphBuilder& b, std::uint64_t seed) {
  Rng rng(seed, "inputs");
  const auto inputs = small_inputs(b.graph(), rng);
  const auto wanted = rules::testing::Interpreter(b.graph()).run(inputs);
  const auto found = field_run(b.graph(), in_field(inputs));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(found[i].dims, wanted[i].dims);
    for (std::size_t j = 0; j < wanted[i].real.size(); ++j)
      EXPECT_EQ(found[i].integer[j], field_number(wanted[i].real[j])) << "seed " << seed << " element " << j;
  }
}

TEST(FieldRun, LinearOpsAgreeWithTheReference) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    graph::GraphBuilder b(seed);
    const auto x = b.input({2, 3, 4}), w = b.input({4, 5}), z = b.input({5});
    const auto y = b.op(K::relu, {b.op(K::add, {b.op(K::matmul, {x, w}), z})});
    b.output(b.op(K::mul, {b.op(K::transpose, {y}, {{A::perm, Ints{2, 0, 1}}}), b.input({1, 3})}));
    expect_same_as_reference(b, seed);
  }
}

TEST(FieldRun, WindowsAgreeWithTheReference) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    graph::GraphBuilder b(seed);
    const auto side = static_cast<std::int64_t>(4 + seed % 3),
               stride = static_cast<std::int64_t>(1 + seed % 2);
    const auto x = b.input({2, 4, side, 5}), w = b.input({6, 2, 3, 2});
    const auto y = b.op(K::conv, {x, w, b.input({6})},
                        {{A::strides, Ints{stride, 1}},
                         {A::pads, Ints{1, 0, 1, 1}},
                         {A::dilations, Ints{1, 2}},
                         {A::group, std::int64_t{2}}});
    b.output(y);
    const graph::AttrBlock window = {
        {A::kernel_shape, Ints{2, 2}}, {A::strides, Ints{stride, stride}}, {A::pads, Ints{1, 0, 0, 1}}};
    b.output(b.op(K::max_pool, {y}, window));
    graph::AttrBlock all = window;
    all.set(A::count_include_pad, static_cast<std::int64_t>(seed % 2));
    b.output(b.op(K::average_pool, {x}, all));
    expect_same_as_reference(b, seed);
  }
}

TEST(FieldRun, NumbersAreFractions) {
  EXPECT_EQ(field_number(-3), kPrime - 3);
  EXPECT_EQ(field_multiply(field_number(1.0F / 9), 9), 1);
  EXPECT_EQ(field_multiply(field_inverse(1234567), 1234567), 1);
  EXPECT_THROW(field_number(1.41421356237309), RulegenError);
}

TEST(FieldRun, ReluKeepsPositiveElements) {
  HostTensor x;
  x.dtype = graph::DType::int64;
  x.dims = {4};
  x.integer = {0, 5, kPrime - 5, kPrime / 2};
  const HostTensor* in[] = {&x};
  EXPECT_EQ(field_evaluate(K::relu, {}, in)[0].integer, (Ints{0, 5, 0, kPrime / 2}));
  EXPECT_THROW(field_evaluate(K::sqrt, {}, in), RulegenError);
}

}  // namespace
}
