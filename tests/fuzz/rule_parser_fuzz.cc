// Any text as a rules file: a RuleError, or rules whose matches on small models apply and leave a valid
// graph. The same text as a rewrite log: a RuleError, or a log whose text reads back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/rules/lang/rule_error.h"
#include "core/rules/match/match_index.h"
#include "core/rules/model_zoo.h"
#include "core/rules/rewrite/rewrite_log.h"
#include "core/rules/rewrite/rewriter.h"
#include "support/validate.h"

namespace {

using namespace regraft;

/// The models on which rules are tried. Each try leaves them as they were but for what it interned, so they
/// are made anew from time to time.
class Models {
 public:
  static constexpr int kTriesOfOne = 1000;

  std::span<const std::unique_ptr<rules::testing::GraphBuilder>> fresh() {
    if (tries_++ % kTriesOfOne == 0) {
      builders_.clear();
      for (int i = 0; i < 3; ++i) builders_.push_back(std::make_unique<rules::testing::GraphBuilder>());
      rules::testing::recurrent(*builders_[0], 2, 2, 3);
      rules::testing::encoder(*builders_[1], 3, 2, 2);
      rules::testing::convolutions(*builders_[2]);
      for (const auto& builder : builders_) builder->graph().commit();
    }
    return builders_;
  }

 private:
  std::vector<std::unique_ptr<rules::testing::GraphBuilder>> builders_;
  int tries_ = 0;
};

void match_and_apply(const rules::RuleSet& rules, graph::Graph& graph) {
  const rules::MatchIndex index(rules, graph);
  for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
    std::size_t tried = 0;
    for (const rules::Match& match : index.matches(rule)) {
      if (++tried > 8) break;
      const auto mark = graph.mark();
      rules::apply(graph, rules, match);  // must succeed: the index says so
      graph::validate(graph);
      graph.undo_to(mark);
    }
  }
}

void read_rules(std::string_view text) {
  try {
    const auto rules = rules::RuleSet::parse(text, "fuzz");
    static Models models;
    for (const auto& model : models.fresh()) match_and_apply(rules, model->graph());
  } catch (const rules::RuleError& e) {
    if (e.where().rfind("fuzz", 0) != 0) std::abort();  // an error of matching, not of reading
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_rules(text);
  try {
    const auto log = rules::RewriteLog::parse(text, "fuzz");
    if (!(rules::RewriteLog::parse(log.to_text(), "printed") == log)) std::abort();
  } catch (const rules::RuleError&) {
  }
  return 0;
}
