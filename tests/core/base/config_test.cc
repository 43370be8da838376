#include "core/base/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/rng.h"

namespace regraft {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

OptionTable small_table() {
  return OptionTable({
      Option("seed", 0, at_least(0).fixed(), "of all random streams"),
      Option("ppo.learning_rate", 3e-4, between(0, 1), "learning rate"),
      Option("ppo.epochs", 4, between(1, 64), "passes over a batch"),
      Option("ppo.anneal", true, any(), "lower the rate to 0 over the run"),
      Option("search.kind", "greedy", one_of({"greedy", "taso", "policy"}), "how to search"),
      Option("run.models", TextList{"a.onnx", "b.onnx"}, any(), "what to train on"),
      Option("run.heads", TextList{"pointer"}, one_of({"pointer", "hierarchical"}), "which heads"),
  });
}

template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no ConfigError";
}

std::string toml_error(std::string_view text) {
  Config config(small_table());
  return error_of([&] { config.merge_toml(text, "c.toml"); });
}

std::string set_error(std::string_view text) {
  Config config(small_table());
  return error_of([&] { config.set(text); });
}

TEST(Config, StartsWithTheDefaults) {
  const Config config(small_table());
  EXPECT_EQ(config.integer("seed"), 0);
  EXPECT_EQ(config.number("ppo.learning_rate"), 3e-4);
  EXPECT_TRUE(config.flag("ppo.anneal"));
  EXPECT_EQ(config.text("search.kind"), "greedy");
  EXPECT_EQ(config.list("run.models"), (TextList{"a.onnx", "b.onnx"}));
}

TEST(Config, FilesThenSettingsOverride) {
  const TempDir dir;
  write_file_atomic(dir.path() / "c.toml",
                    "seed = 5\n[ppo]\nlearning_rate = 1\nanneal = false\n[run]\nmodels = ['x']\n");
  Config config(small_table());
  config.merge_file(dir.path() / "c.toml");
  EXPECT_EQ(config.number("ppo.learning_rate"), 1.0);  // an integer is a number
  config.set("ppo.learning_rate=1e-4");
  config.set("search.kind=taso");
  config.set("run.models=p,q r,s");
  config.set("ppo.anneal=true");
  EXPECT_EQ(config.integer("seed"), 5);
  EXPECT_EQ(config.number("ppo.learning_rate"), 1e-4);
  EXPECT_EQ(config.text("search.kind"), "taso");
  EXPECT_EQ(config.list("run.models"), (TextList{"p", "q r", "s"}));
  config.set("run.models=");
  EXPECT_TRUE(config.list("run.models").empty());
}

TEST(Config, UnknownKeysNameTheLineAndTheNearest) {
  EXPECT_EQ(toml_error("seed = 1\n[ppo]\nmomentum = 1\n"),
            "c.toml:3: there is no key 'ppo.momentum'"
            " (one of seed, ppo.learning_rate, ppo.epochs, ppo.anneal, search.kind, run.models, run.heads)");
  EXPECT_EQ(toml_error("[ppo]\nepoch = 1\n"),
            "c.toml:2: there is no key 'ppo.epoch' (did you mean 'ppo.epochs'?)");
  EXPECT_THAT(toml_error("[pp]\n"), HasSubstr("c.toml:1: there is no key 'pp'"));
  EXPECT_THAT(set_error("ppo.learning_rat=2"),
              AllOf(HasSubstr("--set ppo.learning_rat=2"), HasSubstr("did you mean 'ppo.learning_rate'?")));
  EXPECT_THAT(set_error("ppo.learning_rate"), HasSubstr("there is no '='"));
  EXPECT_THAT(set_error("=3"), HasSubstr("there is no key ''"));
}

TEST(Config, WrongTypesNameTheKeyTheValueAndWhatIsAllowed) {
  EXPECT_EQ(toml_error("ppo.learning_rate = 'fast'"),
            "c.toml:1: 'ppo.learning_rate' cannot be \"fast\" (it is a number, 0 to 1)");
  EXPECT_THAT(toml_error("ppo.epochs = 2.5"), HasSubstr("cannot be 2.5 (it is an integer, 1 to 64)"));
  EXPECT_THAT(toml_error("ppo.anneal = 1"), HasSubstr("cannot be 1 (it is a bool)"));
  EXPECT_THAT(toml_error("run.models = ['a', 3]"), HasSubstr("it is a list of strings"));
  EXPECT_THAT(toml_error("seed = 2020-01-01"), HasSubstr("cannot be 2020-01-01"));
  EXPECT_THAT(toml_error("[seed]\nx = 1"), HasSubstr("'seed' cannot be"));
  EXPECT_THAT(toml_error("[[ppo]]\nlearning_rate = 1"), HasSubstr("there is no key 'ppo'"));
  EXPECT_THAT(set_error("ppo.epochs=2.5"), HasSubstr("cannot be '2.5'"));
  EXPECT_THAT(set_error("ppo.epochs=3x"), HasSubstr("cannot be '3x'"));
  EXPECT_THAT(set_error("ppo.anneal=yes"), HasSubstr("cannot be 'yes'"));
  EXPECT_THAT(set_error("seed=99999999999999999999"), HasSubstr("an integer, at least 0"));
}

TEST(Config, OutOfRangeIsRefused) {
  EXPECT_THAT(set_error("ppo.learning_rate=1.5"), HasSubstr("cannot be 1.5 (it is a number, 0 to 1)"));
  EXPECT_THAT(set_error("ppo.learning_rate=nan"), HasSubstr("'ppo.learning_rate' cannot be nan"));
  EXPECT_THAT(toml_error("ppo.learning_rate = inf"), HasSubstr("'ppo.learning_rate' cannot be inf"));
  EXPECT_THAT(set_error("ppo.epochs=0"), HasSubstr("an integer, 1 to 64"));
  EXPECT_THAT(toml_error("search.kind = 'beam'"), HasSubstr("one of greedy, taso, policy"));
  EXPECT_THAT(set_error("run.heads=pointer,pionter"), HasSubstr("each one of pointer, hierarchical"));
  EXPECT_THAT(set_error("run.models=a\x9c"), HasSubstr("'run.models' cannot be"));  // not UTF-8
  EXPECT_EQ(set_error("ppo.learning_rate=1"), "no ConfigError");
  EXPECT_EQ(set_error("ppo.learning_rate=0"), "no ConfigError");
}

TEST(Config, SyntaxErrorsNameTheLine) {
  EXPECT_THAT(toml_error("seed = 1\nppo = [\n"), HasSubstr("c.toml:"));
  EXPECT_THAT(toml_error("seed 1"), HasSubstr("c.toml:1: "));
}

TEST(Config, AnErrorChangesNothing) {
  Config config(small_table());
  EXPECT_THROW(config.merge_toml("seed = 7\nppo.learning_rate = 9\n", "c.toml"), ConfigError);
  EXPECT_EQ(config.integer("seed"), 0);
}

TEST(Config, AskingForAnUndeclaredKeyOrTypeThrows) {
  const Config config(small_table());
  EXPECT_THROW(config.number("seed"), ConfigError);
  EXPECT_THROW(config.integer("sed"), ConfigError);
}

TEST(Config, PrintedTomlReadsBackTheSame) {
  const std::uint64_t seed = 3;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  Rng rng(seed, "config");
  for (int trial = 0; trial < 100; ++trial) {
    Config config(small_table());
    config.merge_toml("ppo.learning_rate = " + to_toml(ConfigValue(rng.uniform())), "rate");
    config.set("seed=" + std::to_string(rng.next() >> 1));
    std::string odd = "\n\nquote\" back\\ tab\t line\n end'";
    for (auto n = rng.below(5); n > 0; --n) odd += static_cast<char>(1 + rng.below(126));
    std::erase(odd, ',');
    config.set("run.models=" + odd + ",two");
    Config again(small_table());
    again.merge_toml(config.to_toml(), "printed");
    EXPECT_TRUE(differences(config, again).empty())
        << describe(differences(config, again)) << config.to_toml();
  }
}

TEST(Config, KnowsWhatItWasGiven) {
  Config config(small_table());
  EXPECT_FALSE(config.given("seed"));
  config.set("seed=0");
  EXPECT_TRUE(config.given("seed")) << "be it the default";
  config.merge_toml("[ppo]\nlearning_rate = 0.5\n", "a.toml");
  EXPECT_TRUE(config.given("ppo.learning_rate"));
  EXPECT_FALSE(config.given("run.models"));
  EXPECT_THROW(config.given("sead"), ConfigError);
  EXPECT_THROW(config.merge_toml("[ppo]\nlearning_rate = \"x\"\n", "b.toml"), ConfigError);
}

TEST(Config, DifferencesNameWhatIsFixed) {
  Config left(small_table()), right(small_table());
  right.set("seed=4");
  right.set("ppo.learning_rate=0.5");
  const auto found = differences(left, right);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].fixed_on_resume);
  EXPECT_FALSE(found[1].fixed_on_resume);
  EXPECT_EQ(describe(found), "seed: 0 -> 4\nppo.learning_rate: 0.0003 -> 0.5");
}

}  // namespace
}
