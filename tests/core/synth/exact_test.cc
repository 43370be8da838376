#include "core/synth/exact_graph.h"

#include <gtest/gtest.h>

#include "core/rules/example_generator.h"
#include "core/rules/interpreter.h"

namespace regraft::synth {
namespace {

TEST(Exact, DecidesBranchesByTheRealValueOnly) {
  const Exact third = Exact::of(1.0) / Exact::of(3.0);
  EXPECT_EQ((third * Exact::of(3.0)).residue, Exact::of(1.0).residue);
  EXPECT_TRUE(less(third, Exact::of(0.5)));
  EXPECT_FALSE(less(third, third));
  EXPECT_EQ(larger(third, Exact::of(-2.0)).residue, third.residue);
  EXPECT_THROW(less(Exact::of(1.0), Exact::of(1.0 + 1e-12)), Undecided);
  EXPECT_THROW(Exact::of(1.0) / (third - third), Undecided);
}

TEST(Exact, OraclesDependOnTheirArgumentsAlone) {
  const Exact a = Exact::of(0.25), b = Exact::of(0.5) * Exact::of(0.5);
  EXPECT_EQ(oracle(3, {a}, 1).residue, oracle(3, {b}, 1).residue);
  EXPECT_NE(oracle(3, {a}, 1).residue, oracle(4, {a}, 1).residue);
  EXPECT_NE(oracle(3, {a, Exact::of(1.0)}, 1).residue, oracle(3, {Exact::of(1.0), a}, 1).residue);
}

TEST(Exact, AConvolutionOverNoChannelsIsItsBias) {
  rules::GraphBuilder b;
  b.output(b.op(graph::OpKind::conv, {b.input({1, 0, 3}), b.weight({2, 0, 1}), b.literal({2}, {0.5F, -2})}));
  Rng rng(1, "exact");
  const auto found = run_exactly(b.graph(), exact_inputs(b.graph(), rng));
  ASSERT_EQ(found[0].values.size(), 6u);
  EXPECT_EQ(found[0].values[2].rough, 0.5);
  EXPECT_EQ(found[0].values[3].rough, -2);
}

// The rough values of every op that rules use are those of the naive interpreter in fp64.
TEST(Exact, RoughValuesAgreeWithTheInterpreterOnExamplesOfAllShippedRules) {
  const auto rules =
      rules::RuleSet::load(std::string(REGRAFT_SOURCE_DIR) + "/configs/rules", rules::RuleChoice::all());
  std::size_t compared = 0;
  for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      SCOPED_TRACE(rules.info(rule).name + ", seed " + std::to_string(seed));
      rules::GraphBuilder builder(seed);
      Rng rng(seed, "exact");
      rules::RandomChoices choices(rng);
      if (!rules::make_example(rules.compiled(rule), builder, choices, {.integers = false})) continue;
      const ExactInputMap inputs = exact_inputs(builder.graph(), rng);
      std::map<std::int32_t, graph::HostTensor> plain;
      for (const auto& [origin, tensor] : inputs) {
        graph::HostTensor& t = plain[origin];
        t.dtype = tensor.dtype;
        t.dims = tensor.dims;
        for (const Exact& value : tensor.values) {
          if (graph::is_float(t.dtype))
            t.real.push_back(value.rough);
          else
            t.integer.push_back(std::llround(value.rough));
        }
      }
      std::vector<ExactTensor> found;
      try {
        found = run_exactly(builder.graph(), inputs);
      } catch (const Undecided&) {
        continue;
      }
      const auto expected = rules::testing::Interpreter(builder.graph()).run(plain);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i].dims, expected[i].dims);
        for (std::size_t k = 0; k < found[i].values.size(); ++k) {
          const double wanted = graph::is_float(found[i].dtype) ? expected[i].real[k]
                                                                : static_cast<double>(expected[i].integer[k]);
          if (!std::isfinite(wanted)) continue;
          ASSERT_NEAR(found[i].values[k].rough, wanted, 1e-9 * std::max(1.0, std::abs(wanted)));
        }
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, 2000u);
}

}  // namespace
}  // namespace regraft::synth
