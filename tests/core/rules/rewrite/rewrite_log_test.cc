#include "core/rules/rewrite/rewrite_log.h"

#include <gmock/gmock.h>

#include "core/base/rng.h"
#include "core/rules/lang/rule_error.h"

namespace regraft::rules {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RewriteLog sample() {
  RewriteLog log;
  log.fixed = {{"n", 1}, {"x.1", 128}};
  log.version = "1.2.3";
  log.input_sha256 = "ab";
  log.rule_set = "cd";
  log.entries = {{"clean-up:fold", {3}},
                 {"conv-bn", {7, 8}, 10.5, 9.25},
                 {"mul-assoc", {9}, 9.25, 9, "", {RuleMark::finite, RuleMark::bounded_terms}}};
  return log;
}

std::string error_of(const std::string& text) {
  try {
    RewriteLog::parse(text, "x.log");
    return "no error";
  } catch (const RuleError& error) {
    return error.what();
  }
}

TEST(RewriteLog, ReadsBackWhatItWrote) {
  const RewriteLog log = sample();
  EXPECT_EQ(RewriteLog::parse(log.to_text(), "x.log"), log);
  EXPECT_EQ(log.rule_count(), 2u);
}

TEST(RewriteLog, NamesTheBodyThatAnEntryIsOf) {
  RewriteLog log = sample();
  const std::string main_alone = log.to_text();
  EXPECT_THAT(main_alone, Not(HasSubstr("graph")));
  log.entries.push_back({"add-add", {4}, 9.25, 9, "If_3/then_branch"});
  EXPECT_EQ(RewriteLog::parse(log.to_text(), "x.log"), log);
  std::string odd = sample().to_text();
  odd.replace(odd.find("\"nodes\":[7"), 0, "\"graph\":3,");
  EXPECT_THAT(error_of(odd), HasSubstr("lacks a valid \"graph\""));
}

TEST(RewriteLog, EveryTruncationIsNoticed) {
  const std::string text = sample().to_text();
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_NE(error_of(text.substr(0, size)), "no error") << "cut to " << size;
}

TEST(RewriteLog, ErrorsNameFileAndLine) {
  std::string text = sample().to_text();
  text.replace(text.find("[7,8]"), 5, "[7,-8]");
  EXPECT_THAT(error_of(text), HasSubstr("x.log:3: holds a node that is no id"));
  std::string odd = sample().to_text();
  odd.replace(odd.find("finite"), 6, "finity");
  EXPECT_THAT(error_of(odd), HasSubstr("x.log:4: holds a mark that is not known"));
  EXPECT_THAT(error_of("{}\n{}\n"), HasSubstr("x.log:1: lacks a valid \"regraft_log\""));
  EXPECT_THAT(error_of("{\"regraft_log\":9}\n{}\n"), HasSubstr("another format"));
}

TEST(RewriteLog, CountsAreIntegersInRange) {
  const std::string good = sample().to_text();
  const std::string_view count = "\"entries\":3";
  ASSERT_NE(good.find(count), std::string::npos);
  for (const char* odd : {"2.0", "1e95", "-2", "true", "18446744073709551618"}) {
    std::string text = good;
    text.replace(good.find(count), count.size(), std::string("\"entries\":") + odd);
    EXPECT_THAT(error_of(text), HasSubstr("lacks a valid \"entries\"")) << odd;
  }
}

TEST(RewriteLog, ChangedBytesAreReadOrRefusedButNeverCrash) {
  const std::string good = sample().to_text();
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng(seed, "rewrite log mutation");
    std::string text = good;
    for (std::uint64_t i = 1 + rng.below(3); i > 0; --i)
      text[rng.below(text.size())] = static_cast<char>(rng.next());
    refused += error_of(text) == "no error" ? 0 : 1;
  }
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}
