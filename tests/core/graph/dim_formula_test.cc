#include "core/graph/dim_formula.h"

#include <gtest/gtest.h>

#include "core/graph/graph.h"
#include "core/graph/opset.h"

namespace regraft::graph {
namespace {

std::optional<std::int64_t> with_n(std::string_view text, std::int64_t n) {
  return evaluate_formula(
      text, [n](std::string_view name) { return name == "n" ? std::optional(n) : std::nullopt; });
}

TEST(DimFormula, FollowsWhatInferenceWrites) {
  EXPECT_EQ(with_n("(2*n)", 5), 10);
  EXPECT_EQ(with_n("((n+-3)/2+1)", 8), 3);
  EXPECT_EQ(with_n("((n+-3)/2^+1)", 8), 4);
  EXPECT_EQ(with_n("bcast(1,n)", 7), 7);
  EXPECT_EQ(with_n("slice(n,1,-1,2)", 9), 4);
}

TEST(DimFormula, IsNothingWhereTheTextIsNone) {
  EXPECT_EQ(with_n("past (tokens) + 1", 3), std::nullopt);
  EXPECT_EQ(with_n("(2*m)", 3), std::nullopt);
  EXPECT_EQ(with_n("(2*n", 3), std::nullopt);
  EXPECT_THROW(with_n("(4/n)", 0), GraphError);
}

TEST(BindingsOfTables, GiveFormulasTheirValues) {
  Tables tables;
  const Dim n = symbol_dim(tables.symbol("n")), twice = symbol_dim(tables.symbol("(2*n)"));
  Bindings bindings;
  bindings.bind(dim_symbol(n), 4);
  EXPECT_EQ(bindings.value(twice), 1) << "no tables: a symbol like any other";
  EXPECT_EQ(bindings.in(tables).value(twice), 8);
  EXPECT_EQ(Bindings().in(tables).value(twice), 2) << "symbols without a size count as 1";
  EXPECT_EQ(bindings.in(tables).known(twice), 8);
  EXPECT_EQ(Bindings().in(tables).known(twice), std::nullopt) << "it follows from nothing that was bound";
  EXPECT_FALSE(Bindings().in(tables).know_all({DType::float32, true, {3, twice}}));
  EXPECT_EQ(bindings.in(tables).element_count({DType::float32, true, {n, twice, 3}}), 96);
  EXPECT_EQ(bindings.find(dim_symbol(n)), 4);
  EXPECT_EQ(bindings.find(dim_symbol(twice)), std::nullopt);
}

TEST(Opset, SaysWhatAFormNeeds) {
  Tables tables;
  const TypeId x = tables.intern(DType::float32, Dims{2, 3}), y = tables.intern(DType::float32, Dims{3}),
               i = tables.intern(DType::int64, Dims{2, 3});
  const auto problem = [&](std::int64_t opset, OpKind kind, const AttrBlock& attrs,
                           std::vector<TypeId> inputs) {
    tables.set_opset(opset);
    return missing_form(tables, kind, attrs, inputs);
  };
  const AttrBlock first{{Attr::axis, std::int64_t{0}}}, last{{Attr::axis, std::int64_t{1}}};
  EXPECT_EQ(problem(12, OpKind::softmax, first, {x}), "along any but the last axis needs opset 13");
  EXPECT_EQ(problem(12, OpKind::softmax, last, {x}), "");
  EXPECT_EQ(problem(13, OpKind::softmax, first, {x}), "");
  EXPECT_EQ(problem(16, OpKind::layer_norm, {}, {x, y}), "needs opset 17");
  EXPECT_EQ(problem(7, OpKind::sum, {}, {x, y}), "with broadcasting needs opset 8");
  EXPECT_EQ(problem(11, OpKind::max, {}, {i, i}), "of integers needs opset 12");
  EXPECT_EQ(problem(11, OpKind::clip, {}, {i}), "of integers needs opset 12");
  EXPECT_EQ(problem(12, OpKind::clip, {}, {i}), "");
  const AttrBlock dilated{{Attr::dilations, Ints{2}}}, plain{{Attr::dilations, Ints{1}}};
  EXPECT_EQ(problem(18, OpKind::average_pool, dilated, {x}), "with dilations needs opset 19");
  EXPECT_EQ(problem(18, OpKind::average_pool, plain, {x}), "");
  const AttrBlock stepped{{Attr::steps, Ints{2}}};
  EXPECT_EQ(problem(9, OpKind::slice, stepped, {x}), "with steps needs opset 10");
}

TEST(Opset, KnowsWhichKernelsTheRuntimeLacks) {
  Tables tables;
  const TypeId real = tables.intern(DType::float32, Dims{2, 2}),
               whole = tables.intern(DType::int64, Dims{2, 2});
  EXPECT_EQ(missing_kernel(tables, OpKind::gemm, std::array{whole, whole}), "has no kernel for int64");
  EXPECT_EQ(missing_kernel(tables, OpKind::gemm, std::array{real, real}), "");
  EXPECT_EQ(missing_kernel(tables, OpKind::matmul, std::array{whole, whole}), "");
}

}  // namespace
}
