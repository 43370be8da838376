// Any text as a rules file: a RuleError, or rules whose matches on small models apply and leave a valid
// graph. The same text as a rewrite log: a RuleError, or a log whose text reads back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/rules/rewrite.h"
#include "core/rules/rewrite_log.h"
#include "tests/core/rules/model_zoo.h"

namespace {

using namespace regraft;

void match_and_apply(const rules::RuleSet& rules, void (*make)(rules::testing::GraphBuilder&)) {
  rules::testing::GraphBuilder b;
  make(b);
  const rules::MatchIndex index(rules, b.graph());
  for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
    std::size_t tried = 0;
    for (const rules::Match& match : index.matches(rule)) {
      if (++tried > 8) break;
      const auto mark = b.graph().mark();
      rules::apply(b.graph(), rules, match);  // must succeed: the index says so
      b.graph().validate();
      b.graph().undo_to(mark);
    }
  }
}

void read_rules(std::string_view text) {
  // Nested comprehensions take time that means nothing.
  if (text.find("range") != text.rfind("range")) return;
  try {
    const auto rules = rules::RuleSet::parse(text, "fuzz");
    match_and_apply(rules, [](rules::testing::GraphBuilder& b) { rules::testing::recurrent(b, 2, 2, 3); });
    match_and_apply(rules, [](rules::testing::GraphBuilder& b) { rules::testing::encoder(b, 3, 2, 2); });
    match_and_apply(rules, rules::testing::convolutions);
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
