// Rules that are wrong in the ways in which optimisers have been wrong: each is caught where it is applied
// and in the whole model. Its right form passes both, so that it is the mistake that is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/file.h"
#include "core/exec/equivalence/check_equivalence.h"
#include "core/exec/rewrite_fuzzing/motifs.h"
#include "core/exec/site/site_check.h"
#include "core/exec/tiny_models.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "core/rules/match/match_index.h"
#include "core/rules/rewrite/rewriter.h"

namespace regraft::exec {
namespace {

using rewrite_fuzzing::Dims;
using rewrite_fuzzing::Sketch;
using rewrite_fuzzing::Val;

struct WrongRule {
  const char* name;
  const char* wrong;
  const char* right;
  void (*model)(Sketch&);
};

void finish(Sketch& s, const Val& y) {
  s.describe(*s.graph().add_output(), y, true);
}

Val result(const Val& x, Dims dims) {
  return {"", x.dtype, std::move(dims)};
}

void convolution(Sketch& s, const Dims& pads, const Dims& dilations, bool normalised) {
  const Val x = s.input({1, 3, 8, 8}, DType::float32);
  Val y =
      result(x, {1, 4, 8 + pads[0] + pads[2] - 2 * dilations[0], 8 + pads[1] + pads[3] - 2 * dilations[1]});
  s.node("Conv", {x.name, s.weight({4, 3, 3, 3}, 0.3), s.weight({4})}, y)
      .ints("pads", pads)
      .ints("dilations", dilations);
  finish(s, normalised ? rewrite_fuzzing::batch_norm(s, y) : y);
}

void conv_norm(Sketch& s) {
  convolution(s, {1, 1, 1, 1}, {1, 1}, true);
}
void dilated_conv(Sketch& s) {
  convolution(s, {2, 2, 2, 2}, {2, 2}, false);
}
void lopsided_conv(Sketch& s) {
  convolution(s, {0, 1, 2, 1}, {1, 1}, false);
}

void difference(Sketch& s) {
  const Val x = s.input({3, 4}, DType::float32), y = s.input({3, 4}, DType::float32);
  finish(s, rewrite_fuzzing::binary(s, "Sub", x, y));
}

void sliced(Sketch& s) {
  finish(s, rewrite_fuzzing::slice(s, s.input({3, 9}, DType::float32), 2, 5, 1));
}

void softmax(Sketch& s) {
  Val y = s.input({2, 5, 5}, DType::float32);
  const std::string x = y.name;
  s.node("Softmax", {x}, y).integer("axis", 1);
  finish(s, y);
}

void scaled_product(Sketch& s) {
  finish(s,
         rewrite_fuzzing::with_scalar(
             s, "Mul", rewrite_fuzzing::matmul_weight(s, s.input({3, 4}, DType::float32), 5, false), 0.125));
}

void gemm(Sketch& s) {
  const Val x = s.input({3, 4}, DType::float32);
  Val y = result(x, {3, 5});
  s.node("Gemm", {x.name, s.weight({4, 5}), s.weight({5})}, y);
  finish(s, y);
}

void transposed(Sketch& s) {
  finish(s, rewrite_fuzzing::transpose(s, s.input({3, 3, 3}, DType::float32), {1, 2, 0}));
}

void two_products(Sketch& s) {
  const Val x = s.input({3, 4}, DType::float32);
  for (int i = 0; i < 2; ++i) finish(s, rewrite_fuzzing::matmul_weight(s, x, 5, false));
}

void padded_average(Sketch& s) {
  const Val x = s.input({1, 2, 6, 6}, DType::float32);
  Val y = result(x, x.dims);
  s.node("AveragePool", {x.name}, y).ints("kernel_shape", {3, 3}).ints("pads", {1, 1, 1, 1});
  finish(s, y);
}

void mean(Sketch& s) {
  const Val x = s.input({4, 4, 3}, DType::float32);
  Val y = result(x, {4, 3});
  s.node("ReduceMean", {x.name}, y).ints("axes", {0}).integer("keepdims", 0);
  finish(s, y);
}

void grouped(Sketch& s) {
  const Val x = s.input({1, 4, 5, 5}, DType::float32);
  Val y = result(x, {1, 4, 5, 5});
  s.node("Conv", {x.name, s.weight({4, 1, 1, 1})}, y).integer("group", 4);
  finish(s, y);
}

const WrongRule kRules[] = {
    {"Epsilon",
     "r: BatchNormalization{eps}(x, s, b, m, v), const(s, b, m, v) => t = s / Sqrt(v + 2 * eps); k = "
     "range(1, rank(x) "
     "- 1);"
     " Add(Mul(x, Unsqueeze{k}(t)), Unsqueeze{k}(b - m * t))",
     "r: BatchNormalization{eps}(x, s, b, m, v), const(s, b, m, v) => t = s / Sqrt(v + eps); k = range(1, "
     "rank(x) - 1);"
     " Add(Mul(x, Unsqueeze{k}(t)), Unsqueeze{k}(b - m * t))",
     conv_norm},
    {"DroppedDilation", "r: Conv{k,s,p,d,g}(x, w, b), p == 2, d == 2 => Conv{k,s,p - 1,[1, 1],g}(x, w, b)",
     "r: Conv{k,s,p,d,g=1}(x, w, b), const(w, b) => Neg(Conv{k,s,p,d,1}(x, Neg(w), Neg(b)))", dilated_conv},
    {"PadsSwapped", "r: Conv{k,s,p,d,g}(x, w, b), p[0] != p[2] => Conv{k,s,p[2:] ++ p[:2],d,g}(x, w, b)",
     "r: Conv{k,s,p,d,g}(x, w, b), p[0] != p[2], const(w, b) => Neg(Conv{k,s,p,d,g}(x, Neg(w), Neg(b)))",
     lopsided_conv},
    {"SwappedOperands", "r: Sub(x, y) => Sub(y, x)", "r: Sub(x, y) => Neg(Sub(y, x))", difference},
    {"OffByOneSlice", "r: Slice{[i],[j],[a],[1]}(x), i == 2 => Slice{[i - 1],[j - 1],[a],[1]}(x)",
     "r: Slice{[i],[j],[a],[1]}(x), i == 2 => Slice{[i - 1],[j - 1],[a],[1]}(Slice{[1],[x.-1],[a],[1]}(x))",
     sliced},
    {"WrongAxis", "r: Softmax{1}(x), rank(x) == 3 => Softmax{2}(x)",
     "r: Softmax{1}(x), rank(x) == 3 => Transpose{[0, 2, 1]}(Softmax{2}(Transpose{[0, 2, 1]}(x)))", softmax},
    {"ScaleForgotten", "r: Mul(MatMul(x, w), c), const(w, c) => MatMul(x, w)",
     "r: Mul(MatMul(x, w), c), const(w, c), size(c) == 1 => MatMul(x, w * c)", scaled_product},
    {"BiasForgotten", "r: Gemm(x, w, c) => MatMul(x, w)", "r: Gemm(x, w, c) => Add(MatMul(x, w), c)", gemm},
    {"InversePermutation", "r: Transpose{p}(x), p != invert(p) => Transpose{invert(p)}(x)",
     "r: Transpose{p}(x), p != invert(p) => Transpose{invert(p)}(Transpose{invert(p)}(x))", transposed},
    {"PartsInTheWrongOrder",
     "r: a = MatMul(x, w); b = MatMul(x, u), const(w, u), w.1 == u.1"
     " => z = MatMul(x, Concat{1}(w, u)); (b, a) = Split{1, [w.1, u.1]}(z)",
     "r: a = MatMul(x, w); b = MatMul(x, u), const(w, u), w.1 == u.1"
     " => z = MatMul(x, Concat{1}(w, u)); (a, b) = Split{1, [w.1, u.1]}(z)",
     two_products},
    {"PadsCounted", "r: f:AveragePool{*, count_include_pad=0}(x) => f{count_include_pad=1}(x)",
     "r: f:AveragePool{*, count_include_pad=0}(x) => Neg(f(Neg(x)))", padded_average},
    {"MeanOverAnotherAxis", "r: ReduceMean{[0], 0}(x), rank(x) == 3 => ReduceMean{[1], 0}(x)",
     "r: ReduceMean{[0], 0}(x), rank(x) == 3 => ReduceMean{[1], 0}(Transpose{[1, 0, 2]}(x))", mean},
    {"DepthwiseMerged",
     "r: Conv{k,s,p,d,g}(x, w), const(w), g == w.0 => Conv{k,s,p,d,g / 2}(x, Concat{1}(w, w))",
     "r: Conv{k,s,p,d,g}(x, w), const(w), g == w.0 => Neg(Conv{k,s,p,d,g}(x, Neg(w)))", grouped},
};

class WrongRules : public ::testing::TestWithParam<WrongRule> {
 protected:
  void SetUp() override {
    Rng rng(5, "wrong rules");
    Sketch sketch(17, DType::float32, rng);
    GetParam().model(sketch);
    std::ofstream(folder_.path() / "before.onnx", std::ios::binary) << sketch.model().SerializeAsString();
    set_oracle_threads(1);
  }

  /// Applies the rule once and gives both verdicts: of the site, and of the whole model.
  std::pair<SiteReport, EquivalenceReport> verdicts(const char* text) {
    const auto rules = rules::RuleSet::parse(text, "rule");
    const onnx::ImportedModel model = onnx::import_model(folder_.path() / "before.onnx");
    graph::Graph graph = model.graph();
    const rules::MatchIndex index(rules, graph);
    EXPECT_FALSE(index.matches(0).empty());
    if (index.matches(0).empty()) return {};
    const rules::Rewrite rewrite = rules::apply(graph, rules, index.matches(0)[0]);
    const auto after = folder_.path() / "after.onnx";
    onnx::export_model(model, graph, after);
    return {check_site(model.graph(), graph, rewrite, {}),
            check_equivalence(folder_.path() / "before.onnx", after, {})};
  }

 private:
  TempDir folder_;
};

TEST_P(WrongRules, AreCaughtAtTheSiteAndInTheModel) {
  const auto [site, model] = verdicts(GetParam().wrong);
  EXPECT_FALSE(site.passes);
  EXPECT_GT(site.relative_error, 1e-6) << site.reason;
  EXPECT_FALSE(model.equivalent);
  EXPECT_FALSE(model.worst_output.empty()) << model.reason;
}

TEST_P(WrongRules, PassInTheirRightForm) {
  const auto [site, model] = verdicts(GetParam().right);
  EXPECT_TRUE(site.passes) << site.reason;
  EXPECT_TRUE(model.equivalent) << model.reason;
}

INSTANTIATE_TEST_SUITE_P(All, WrongRules, ::testing::ValuesIn(kRules),
                         [](const auto& instance) { return std::string(instance.param.name); });

/// A rule that a symbolic dim makes wrong only where it is smaller than a constant of the model: a start from
/// the end of a dim is no row number. At 10, 1 and 7 rows nothing shows.
struct BoundSize {
  const char* what;
  testing::ModelBuilder::Shape input;  // the last but one is sliced
  SymbolSizes bound;
  const char* shows;  // where
};

class WrongAtSmallerSizes : public ::testing::TestWithParam<BoundSize> {};

TEST_P(WrongAtSmallerSizes, IsCaught) {
  const auto& [what, input, bound, shows] = GetParam();
  const auto axis = static_cast<std::int64_t>(input.size()) - 2;
  const std::string gather = "Gather{" + std::to_string(axis) + "}";
  const std::string wrong = "r: " + gather + "(Slice{[o], [e], [" + std::to_string(axis) +
                            "], [1]}(x), i), const(i), rank(i) == 1, min(ints(i)) >= 0 => " + gather +
                            "(x, Ints(ints(i) + o))";
  testing::ModelBuilder::Shape output = input;
  output[axis] = 1;
  const TempDir folder;
  testing::ModelBuilder model;
  model.input("x", input).output("y", output).integers("row", {1});
  model.integers("from", {-3}).integers("to", {1000}).integers("axes", {axis});
  model.node("Slice", {"x", "from", "to", "axes"}, {"last"});
  testing::set_int(model.node("Gather", {"last", "row"}, {"y"}), "axis", axis);
  const auto file = model.write(folder.path() / "before.onnx"), after = folder.path() / "after.onnx";
  const auto rules = rules::RuleSet::parse(wrong, "rule");
  const onnx::ImportedModel imported = onnx::import_model(file);
  graph::Graph graph = imported.graph();
  const rules::MatchIndex index(rules, graph);
  ASSERT_EQ(index.matches(0).size(), 1u);
  const rules::Rewrite rewrite = rules::apply(graph, rules, index.matches(0)[0]);
  onnx::export_model(imported, graph, after);

  SiteOptions at;
  for (const auto& [symbol, size] : bound) at.bindings.bind(imported.tables().symbol(symbol), size);
  set_oracle_threads(1);
  EXPECT_FALSE(check_site(imported.graph(), graph, rewrite, at).passes);
  EquivalenceOptions options;
  options.points = {bound};
  const EquivalenceReport report = check_equivalence(file, after, options);
  EXPECT_FALSE(report.equivalent);
  EXPECT_THAT(report.reason, ::testing::HasSubstr(shows));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongAtSmallerSizes,
    ::testing::Values(BoundSize{"one_symbol", {"n", 3}, {{"n", 10}}, "n=2"},
                      BoundSize{"beside_one_of_size_1", {"batch", "n", 3}, {{"batch", 1}, {"n", 10}}, "n=2"},
                      BoundSize{"beside_a_small_one", {"batch", "n", 3}, {{"batch", 2}, {"n", 10}}, "n=2"}),
    [](const auto& instance) { return std::string(instance.param.what); });

}  // namespace
}
