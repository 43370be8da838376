// Any text as a rewrite log: a RuleError, or a log whose text reads back the same; and replayed on a small
// graph under the rules that it names: a RuleError, or a valid graph.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/rules/lang/rule_error.h"
#include "core/rules/model_zoo.h"
#include "core/rules/rewrite/rewrite_log.h"
#include "support/validate.h"

namespace {

using namespace regraft;

const rules::RuleSet& some_rules() {
  static const rules::RuleSet rules = rules::RuleSet::parse(
      "relu-relu: Relu(Relu(x)) => Relu(x)\n"
      "sum-add: Sum(x, y) => Add(x, y)\n"
      "siblings: y@ = MatMul(x, w@), const(w@), rank(w@) == 2, rank(x) >= 2 => z = MatMul(x, "
      "Concat{1}(w@...)); (y@...) = "
      "Split{rank(z) - 1, [w@.1...]}(z)\n",
      "fuzz");
  return rules;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    rules::RewriteLog log = rules::RewriteLog::parse(text, "fuzz");
    if (!(rules::RewriteLog::parse(log.to_text(), "printed") == log)) std::abort();
    log.rule_set = some_rules().hash().hex();
    rules::testing::GraphBuilder b;
    rules::testing::recurrent(b, 2, 2, 3);
    try {
      rules::replay(log, b.graph(), some_rules());
    } catch (const rules::RuleError&) {
    }
    graph::validate(b.graph());
  } catch (const rules::RuleError&) {
  }
  return 0;
}
