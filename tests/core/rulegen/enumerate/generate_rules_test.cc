#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/file.h"
#include "core/rulegen/enumerate/check_examples.h"
#include "core/rulegen/enumerate/generate_rules.h"
#include "core/rulegen/taso/import_taso.h"
#include "core/rulegen/taso/taso_writer.h"
#include "core/rules/set/rule_set.h"

namespace regraft::rulegen {
namespace {

namespace fs = std::filesystem;

Generation generate(const GenerateOptions& options) {
  return generate_rules(options, [](const std::string&) {});
}

/// A generation with a clock that goes on at each look, in a folder that goes away with the test.
class Generate : public ::testing::Test {
 protected:
  Generation generate(std::vector<std::string> ops, std::size_t depth) {
    options_.ops = std::move(ops);
    options_.depth = depth;
    return rulegen::generate(options_);
  }
  /// The rules of products and sums of up to three nodes, made in one go.
  static const Generation& expected() {
    static const Generation made = [] {
      const TempDir dir;
      return rulegen::generate(options_in(dir.path()));
    }();
    return made;
  }
  static GenerateOptions options_in(const fs::path& folder) {
    GenerateOptions options;
    options.ops = {"matmul", "add"};
    options.threads = 1;
    options.examples = 12;
    options.folder = folder;
    return options;
  }
  void run_a_clock() {
    options_.clock = [this] { return ++now_; };
    options_.seconds = 2;
  }

  TempDir dir_;
  double now_ = 0;
  GenerateOptions options_ = options_in(dir_.path());
};

bool has_line(const Generation& made, const std::string& line) {
  return std::any_of(made.rules.begin(), made.rules.end(), [&](const GeneratedRule& rule) {
    return std::find(rule.lines.begin(), rule.lines.end(), line) != rule.lines.end();
  });
}

// Whether so many uses of generated rules, or fewer, lead from one side of a rule to the other.
bool derives(const Generation& made, const TasoRule& rule, std::size_t steps = 2) {
  std::vector<Form> forms;
  const TermRule terms = taso_term(rule, forms);
  const auto one = rules::RuleSet::parse(rule_text("one", terms, forms, {}) + "\n", "one.rules");
  const auto set = rules::RuleSet::parse(made.rules_text(), "generated.rules");
  return find_derivation(set, one, terms, forms, steps, false, 1).has_value();
}

TEST_F(Generate, FindsTheLawsOfMatrices) {
  using testing::taso_matmul;
  using testing::taso_op;
  using testing::taso_rule;
  const Generation made = generate({"matmul", "add", "transpose"}, 3);
  EXPECT_TRUE(has_line(made, "n0 = Transpose{perm=[1,0]}(x0); n1 = Transpose{perm=[1,0]}(n0) => n1 = x0"));
  EXPECT_TRUE(derives(
      made, taso_rule({taso_matmul(-1, -2), taso_matmul(0, -3)}, {taso_matmul(-2, -3), taso_matmul(-1, 0)})));
  EXPECT_TRUE(
      derives(made, taso_rule({taso_matmul(-1, -3), taso_matmul(-2, -3), taso_op(TasoType::add, {0, 1})},
                              {taso_op(TasoType::add, {-1, -2}), taso_matmul(0, -3)})));
  EXPECT_FALSE(derives(made, taso_rule({taso_matmul(-1, -2), taso_op(TasoType::relu, {0})},
                                       {taso_op(TasoType::relu, {-1}), taso_matmul(0, -2)})));
  const auto rules = rules::RuleSet::parse(made.rules_text(), "generated.rules");
  EXPECT_EQ(rules.size(), made.line_count());
}

// A sum over all channels is one over some of them and one over the others.
TEST_F(Generate, FindsThatAConvolutionSplitsOverItsChannels) {
  using testing::taso_concat;
  using testing::taso_conv;
  using testing::taso_op;
  using testing::taso_rule;
  const Generation made = generate({"concat-1", "conv3x3-same", "add"}, 3);
  const std::vector<TasoOp> whole = {taso_concat(-1, -2, 1, 4), taso_concat(-3, -4, 1, 4), taso_conv(0, 1)};
  const std::vector<TasoOp> parts = {taso_conv(-1, -3), taso_conv(-2, -4), taso_op(TasoType::add, {0, 1})};
  EXPECT_TRUE(derives(made, taso_rule(whole, parts), 1));
  // The channels of the kernel in another order.
  const std::vector<TasoOp> crossed = {taso_conv(-1, -4), taso_conv(-2, -3), taso_op(TasoType::add, {0, 1})};
  EXPECT_FALSE(derives(made, taso_rule(whole, crossed), 1));
}

TEST_F(Generate, GoesOnWhereAKilledRunStopped) {
  EXPECT_EQ(rulegen::generate(options_).rules_text(), expected().rules_text());
  std::size_t number = 0, kept = 0;
  for (const auto& entry : fs::directory_iterator(dir_.path())) {
    const std::size_t fate = number++ % 3;
    kept += fate == 2 ? 1 : 0;
    if (fate == 0) fs::remove(entry.path());                                        // not begun
    if (fate == 1) fs::resize_file(entry.path(), fs::file_size(entry.path()) / 2);  // as on a disk that lies
  }
  ASSERT_GT(kept, 0u);
  const Generation again = rulegen::generate(options_);
  EXPECT_EQ(again.units_found, kept);
  EXPECT_EQ(again.rules_text(), expected().rules_text());
  EXPECT_THROW(generate({"matmul", "add"}, 2), RulegenError) << "the folder is of other options";
}

TEST_F(Generate, StopsWithinAUnitAndGoesOnToTheSameRules) {
  run_a_clock();
  std::size_t done = 0, stops = 0, within = 0;
  Generation made;
  for (;; options_.seconds *= 2) {
    made = rulegen::generate(options_);
    EXPECT_GE(made.units_done, done);
    if (made.complete()) break;
    done = made.units_done;
    ++stops;
    // Were the clock looked at before each unit alone, so many would be done.
    within += static_cast<double>(done - made.units_found) + 1 < options_.seconds ? 1 : 0;
    EXPECT_NE(made.stopped.find("the time was over after " + std::to_string(done)), std::string::npos)
        << made.stopped;
    EXPECT_TRUE(made.rules.empty());
  }
  EXPECT_GE(stops, 2u);
  EXPECT_GE(within, 2u);
  EXPECT_EQ(made.rules_text(), expected().rules_text());
}

// A limit that suffices for a part of a unit, which now and then is torn, comes to the end too.
TEST_F(Generate, ALimitShorterThanAnyUnitComesToTheSameRules) {
  run_a_clock();  // which allows a look before a unit, and one in it
  std::size_t runs = 0, without_a_unit = 0, torn = 0;
  Generation made;
  for (std::size_t done = 0; made.units == 0 || done < made.units; ++runs) {
    ASSERT_LT(runs, 10000u);
    made = rulegen::generate(options_);
    EXPECT_FALSE(made.complete());
    EXPECT_TRUE(made.rules.empty());
    without_a_unit += made.units_done == done ? 1 : 0;
    done = made.units_done;
    if (runs > 20 || runs % 2 == 0) continue;
    for (const auto& entry : fs::directory_iterator(dir_.path())) {
      if (entry.path().extension() != ".part") continue;
      fs::resize_file(entry.path(), fs::file_size(entry.path()) - 1);
      ++torn;
    }
  }
  EXPECT_GE(torn, 3u);
  EXPECT_GE(without_a_unit, 5u);
  EXPECT_NE(made.stopped.find("while rules were chosen"), std::string::npos) << made.stopped;
  options_.seconds = 0;
  made = rulegen::generate(options_);
  EXPECT_TRUE(made.complete()) << made.stopped;
  EXPECT_EQ(made.units_found, made.units);
  EXPECT_EQ(made.rules_text(), expected().rules_text());
  for (const auto& entry : fs::directory_iterator(dir_.path()))
    EXPECT_EQ(entry.path().extension(), ".chunk") << entry.path();
}

TEST_F(Generate, StopsWhereMemoryIsShortAndGoesOnWithMore) {
  std::size_t stops = 0, in_units = 0, done = 0;
  Generation made;
  for (options_.memory_bytes = 1 << 12;; options_.memory_bytes *= 2) {
    made = rulegen::generate(options_);
    EXPECT_GE(made.units_done, done);
    if (made.complete()) break;
    done = made.units_done;
    ++stops;
    in_units += made.units_done < made.units ? 1 : 0;
    EXPECT_NE(made.stopped.find("memory"), std::string::npos) << made.stopped;
    EXPECT_TRUE(made.rules.empty());
  }
  EXPECT_GE(in_units, 2u);
  EXPECT_GT(stops, in_units);  // then there is room for units, but not for the classes
  EXPECT_EQ(made.rules_text(), expected().rules_text());
  EXPECT_EQ(made.graphs, expected().graphs);
}

TEST_F(Generate, RefusesOptionsThatCannotBeMeant) {
  EXPECT_THROW(generate({"matmull"}, 2), RulegenError);
  EXPECT_THROW(generate({"matmul"}, 0), RulegenError);
  EXPECT_THROW(generate({"matmul"}, 9), RulegenError);
}

}  // namespace
}  // namespace regraft::rulegen
