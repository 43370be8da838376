#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/rulegen/enumerate/check_examples.h"
#include "core/rulegen/enumerate/generate_rules.h"
#include "core/rulegen/taso/import_taso.h"
#include "core/rulegen/taso/taso_writer.h"
#include "core/rules/set/rule_set.h"

namespace regraft::rulegen {
namespace {

namespace fs = std::filesystem;

/// A folder that goes away with the test.
class Folder {
 public:
  Folder() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = fs::path(REGRAFT_BINARY_DIR) / ("generate-" + std::string(info->name()) + "-" +
                                            std::to_string(::getpid()) + "-" + std::to_string(count_++));
    fs::remove_all(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  static inline int count_ = 0;
  fs::path path_;
};

Generation generate(const fs::path& folder, std::vector<std::string> ops, std::size_t depth,
                    std::size_t threads = 1) {
  GenerateOptions options;
  options.ops = std::move(ops);
  options.depth = depth;
  options.threads = threads;
  options.folder = folder;
  options.examples = 12;
  return generate_rules(options, [](const std::string&) {});
}

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

TEST(Generate, FindsTheLawsOfMatrices) {
  using testing::taso_matmul;
  using testing::taso_op;
  using testing::taso_rule;
  const Folder folder;
  const Generation made = generate(folder.path(), {"matmul", "add", "transpose"}, 3);
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
TEST(Generate, FindsThatAConvolutionSplitsOverItsChannels) {
  using testing::taso_concat;
  using testing::taso_conv;
  using testing::taso_op;
  using testing::taso_rule;
  const Folder folder;
  const Generation made = generate(folder.path(), {"concat-1", "conv3x3-same", "add"}, 3);
  const std::vector<TasoOp> whole = {taso_concat(-1, -2, 1, 4), taso_concat(-3, -4, 1, 4), taso_conv(0, 1)};
  const std::vector<TasoOp> parts = {taso_conv(-1, -3), taso_conv(-2, -4), taso_op(TasoType::add, {0, 1})};
  EXPECT_TRUE(derives(made, taso_rule(whole, parts), 1));
  // The channels of the kernel in another order.
  const std::vector<TasoOp> crossed = {taso_conv(-1, -4), taso_conv(-2, -3), taso_op(TasoType::add, {0, 1})};
  EXPECT_FALSE(derives(made, taso_rule(whole, crossed), 1));
}

TEST(Generate, NoRuleFollowsFromAnother) {
  const Folder folder;
  const Generation made = generate(folder.path(), {"add"}, 3);
  // Commutativity is in the language; associativity is all that is left, and what it says of repetitions.
  EXPECT_LE(made.rules.size(), 4u) << made.rules_text();
  EXPECT_TRUE(has_line(made, "n0 = Relu(x0); n1 = Relu(n0) => n1 = Relu(x0)")) << made.rules_text();
}

TEST(Generate, IsTheSameOnAnyNumberOfThreads) {
  const Folder one, three;
  const Generation a = generate(one.path(), {"matmul", "add", "concat-0"}, 2, 1);
  const Generation b = generate(three.path(), {"matmul", "add", "concat-0"}, 2, 3);
  EXPECT_EQ(a.rules_text(), b.rules_text());
  EXPECT_EQ(a.graphs, b.graphs);
}

TEST(Generate, GoesOnWhereAKilledRunStopped) {
  const Folder whole, torn;
  const std::vector<std::string> ops = {"matmul", "add"};
  const Generation expected = generate(whole.path(), ops, 3);
  fs::create_directories(torn.path());
  std::size_t number = 0, damaged = 0, kept = 0;
  for (const auto& entry : fs::directory_iterator(whole.path())) {
    const fs::path copy = torn.path() / entry.path().filename();
    const std::size_t fate = number++ % 3;
    if (fate == 0) continue;  // not begun
    fs::copy_file(entry.path(), copy);
    if (fate == 1) {
      fs::resize_file(copy, fs::file_size(copy) / 2);  // torn, as on a disk that lies
      ++damaged;
    } else {
      ++kept;
    }
  }
  ASSERT_GT(damaged, 0u);
  ASSERT_GT(kept, 0u);
  const Generation again = generate(torn.path(), ops, 3);
  EXPECT_EQ(again.units_found, kept);
  EXPECT_EQ(again.rules_text(), expected.rules_text());
  EXPECT_THROW(generate(torn.path(), ops, 2), RulegenError);  // the folder is of other options
}

TEST(Generate, StopsInTimeAndKeepsItsWork) {
  const Folder folder;
  GenerateOptions options;
  options.folder = folder.path();
  options.seconds = 1e-9;
  const Generation made = generate_rules(options, [](const std::string&) {});
  EXPECT_FALSE(made.complete());
  EXPECT_TRUE(made.rules.empty());
}

GenerateOptions small_options(const fs::path& folder) {
  GenerateOptions options;
  options.ops = {"matmul", "add"};
  options.depth = 3;
  options.threads = 1;
  options.folder = folder;
  options.examples = 12;
  return options;
}

// A clock that goes on at each look: the time is over in the middle of a unit, and again, until all are done.
TEST(Generate, StopsWithinAUnitAndGoesOnToTheSameRules) {
  const Folder whole, parts;
  const Generation expected = generate(whole.path(), {"matmul", "add"}, 3);
  GenerateOptions options = small_options(parts.path());
  double now = 0;
  options.clock = [&] { return ++now; };
  std::size_t done = 0, stops = 0, within = 0;
  Generation made;
  for (options.seconds = 2;; options.seconds *= 2) {
    made = generate_rules(options, [](const std::string&) {});
    EXPECT_GE(made.units_done, done);
    if (made.complete()) break;
    done = made.units_done;
    ++stops;
    // Were the clock looked at before each unit alone, so many would be done.
    within += static_cast<double>(done - made.units_found) + 1 < options.seconds ? 1 : 0;
    EXPECT_NE(made.stopped.find("the time was over after " + std::to_string(done)), std::string::npos)
        << made.stopped;
    EXPECT_TRUE(made.rules.empty());
  }
  EXPECT_GE(stops, 2u);
  EXPECT_GE(within, 2u);
  EXPECT_EQ(made.rules_text(), expected.rules_text());
}

// A limit that suffices for a part of a unit comes to the end too, part by part.
TEST(Generate, ALimitShorterThanAnyUnitComesToTheSameRules) {
  const Folder whole, parts;
  const Generation expected = generate(whole.path(), {"matmul", "add"}, 3);
  GenerateOptions options = small_options(parts.path());
  double now = 0;
  options.clock = [&] { return ++now; };
  options.seconds = 2;  // a look at the clock before a unit, and one in it
  std::size_t runs = 0, without_a_unit = 0;
  Generation made;
  for (std::size_t done = 0; made.units == 0 || done < made.units; ++runs) {
    ASSERT_LT(runs, 10000u);
    made = generate_rules(options, [](const std::string&) {});
    EXPECT_FALSE(made.complete());
    EXPECT_TRUE(made.rules.empty());
    without_a_unit += made.units_done == done ? 1 : 0;
    done = made.units_done;
  }
  EXPECT_GE(without_a_unit, 5u);
  EXPECT_NE(made.stopped.find("while rules were chosen"), std::string::npos) << made.stopped;
  options.seconds = 0;
  made = generate_rules(options, [](const std::string&) {});
  EXPECT_TRUE(made.complete()) << made.stopped;
  EXPECT_EQ(made.units_found, made.units);
  EXPECT_EQ(made.rules_text(), expected.rules_text());
  for (const auto& entry : fs::directory_iterator(parts.path()))
    EXPECT_EQ(entry.path().extension(), ".chunk") << entry.path();
}

// A part that is torn, or of another generation, is no part.
TEST(Generate, BeginsAUnitAnewWhereItsPartIsTorn) {
  const Folder whole, parts;
  const Generation expected = generate(whole.path(), {"matmul", "add"}, 3);
  GenerateOptions options = small_options(parts.path());
  double now = 0;
  options.clock = [&] { return ++now; };
  options.seconds = 2;
  std::size_t torn = 0;
  for (int run = 0; run < 20; ++run) {
    generate_rules(options, [](const std::string&) {});
    for (const auto& entry : fs::directory_iterator(parts.path())) {
      if (entry.path().extension() != ".part" || run % 2 == 0) continue;
      fs::resize_file(entry.path(), fs::file_size(entry.path()) - 1);
      ++torn;
    }
  }
  EXPECT_GE(torn, 3u);
  options.seconds = 0;
  EXPECT_EQ(generate_rules(options, [](const std::string&) {}).rules_text(), expected.rules_text());
}

TEST(Generate, StopsWhereMemoryIsShortAndGoesOnWithMore) {
  const Folder whole, parts;
  const Generation expected = generate(whole.path(), {"matmul", "add"}, 3);
  GenerateOptions options = small_options(parts.path());
  std::size_t stops = 0, in_units = 0, done = 0;
  Generation made;
  for (options.memory_bytes = 1 << 12;; options.memory_bytes *= 2) {
    made = generate_rules(options, [](const std::string&) {});
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
  EXPECT_EQ(made.rules_text(), expected.rules_text());
  EXPECT_EQ(made.graphs, expected.graphs);
}

TEST(Generate, RefusesOptionsThatCannotBeMeant) {
  const Folder folder;
  EXPECT_THROW(generate(folder.path(), {"matmull"}, 2), RulegenError);
  EXPECT_THROW(generate(folder.path(), {"matmul"}, 0), RulegenError);
  EXPECT_THROW(generate(folder.path(), {"matmul"}, 9), RulegenError);
}

}  // namespace
}
