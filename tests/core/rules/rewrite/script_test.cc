#include "core/rules/rewrite/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/rules/graph_builder.h"
#include "core/rules/lang/rule_error.h"
#include "support/validate.h"

namespace regraft::rules {
namespace {

using ::testing::HasSubstr;

const RuleSet& rules() {
  static const RuleSet set = RuleSet::parse(
      "relu-relu: Relu(Relu(x)) => Relu(x)\n"
      "swap: Transpose{p}(Relu(x)) => Relu(Transpose{p}(x))\n",
      "script.rules");
  return set;
}

graph::Graph& chain(testing::GraphBuilder& b) {
  using testing::OpKind;
  auto v = b.input({2, 3});
  for (int i = 0; i < 4; ++i) v = b.op(OpKind::relu, {v});
  b.output(b.op(OpKind::transpose, {v}, {{graph::Attr::perm, graph::Ints{1, 0}}}));
  return b.graph();
}

TEST(Script, CarriesOutItsStepsInOrder) {
  testing::GraphBuilder b;
  graph::Graph& graph = chain(b);
  const auto script = Script::parse(
      "# all but one Relu go\nexpect Relu 4\nrelu-relu at 1\nexpect Relu 3\nrelu-relu all\n"
      "expect Relu 1\nswap 1\nexpect total 2  # both are left\n",
      "chain.script");
  const auto log = run_script(script, graph, rules());
  ASSERT_EQ(log.size(), 4u);
  EXPECT_EQ(rules().info(log[0].rule).name, "relu-relu");
  EXPECT_EQ(rules().info(log[3].rule).name, "swap");
  graph::validate(graph);
}

TEST(Script, RepeatsItsSteps) {
  testing::GraphBuilder b;
  graph::Graph& graph = chain(b);
  const auto script = Script::parse(
      "repeat 2\nrelu-relu\nend\nexpect Relu 2\n"
      "repeat  # until nothing changes\nrelu-relu all\nrepeat\nswap all\nend\nend\nexpect total 2\n",
      "chain.script");
  const auto applied = run_script(script, graph, rules());
  ASSERT_EQ(applied.size(), 4u);
  graph::validate(graph);
}

TEST(Script, TakesEachMatchOnceAndNoneThatItMakes) {
  const RuleSet grows = RuleSet::parse("grow: Relu(x) => Relu(Tanh(x))\n", "script.rules");
  testing::GraphBuilder b;
  graph::Graph& graph = chain(b);
  const auto script = Script::parse("grow each\nexpect Relu 4\nexpect Tanh 4\n", "chain.script");
  EXPECT_EQ(run_script(script, graph, grows).size(), 4u);
  graph::validate(graph);
  testing::GraphBuilder other;
  // Pairs that overlap: those that the ones before leave.
  EXPECT_EQ(
      run_script(Script::parse("relu-relu each\nexpect Relu 2\n", "chain.script"), chain(other), rules())
          .size(),
      2u);
}

TEST(Script, SaysWhereItDoesNotFit) {
  const auto fails_at = [](const char* text, const char* where) {
    testing::GraphBuilder b;
    try {
      run_script(Script::parse(text, "chain.script"), chain(b), rules());
    } catch (const RuleError& e) {
      return e.where() == where;
    }
    return false;
  };
  EXPECT_TRUE(fails_at("\nno-such-rule\n", "chain.script:2"));
  EXPECT_TRUE(fails_at("relu-relu 9\n", "chain.script:1"));
  EXPECT_TRUE(fails_at("relu-relu at 7\n", "chain.script:1"));
  EXPECT_TRUE(fails_at("expect Relu 1\n", "chain.script:1"));
  EXPECT_TRUE(fails_at("expect NoSuchOp 1\n", "chain.script:1"));
  EXPECT_TRUE(fails_at("relu-relu twice\n", "chain.script:1"));
  EXPECT_TRUE(fails_at("relu-relu all\nrelu-relu each\n", "chain.script:2"));
  EXPECT_TRUE(fails_at("relu-relu at 1 2\n", "chain.script:1"));
  EXPECT_TRUE(fails_at("relu-relu\nrepeat 2\nrelu-relu\n", "chain.script:2"));
  EXPECT_TRUE(fails_at("relu-relu\nend\n", "chain.script:2"));
  EXPECT_TRUE(fails_at("repeat 2\nrelu-relu 9\nend\n", "chain.script:2"));
  EXPECT_TRUE(fails_at("repeat often\nend\n", "chain.script:1"));
}

TEST(Script, SaysWhatToDoWhereItDoesNotFit) {
  const auto error_of = [](const std::string& text) -> std::string {
    testing::GraphBuilder b;
    try {
      run_script(Script::parse(text, "chain.script"), chain(b), rules());
    } catch (const RuleError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of("relu-relu 9\n"), HasSubstr("matches 0 times after 3 rewrites of this line (mend the "
                                                   "lines before, or write relu-relu all"));
  EXPECT_THAT(error_of("relu-relu at 7\n"), HasSubstr("(matches are numbered from 0: write at 2 or less)"));
  EXPECT_THAT(error_of("relu-relu all\nrelu-relu each\n"), HasSubstr("nowhere (mend the lines before"));
  EXPECT_THAT(error_of("expect Relu 1\n"), HasSubstr("(mend the lines before, or the number)"));
  EXPECT_THAT(error_of(std::string("relu-rel\0u\n", 11)), HasSubstr("no rule 'relu-rel\\x00u' (did you"));
}

}  // namespace
}
