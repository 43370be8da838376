// Any bytes as TASO's rule file: a RulegenError, or rules that are imported or refused with a reason.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/rulegen/taso/import_taso.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regraft;
  try {
    const auto taso = rulegen::read_taso_rules(std::as_bytes(std::span(data, size)), "fuzz");
    if (taso.size() > 2) return 0;  // import takes its time
    const auto known = rules::RuleSet::parse("relu-relu: Relu(Relu(x)) => Relu(x)\n", "known");
    rulegen::TasoOptions few;
    few.examples = 8;
    for (const auto& outcome : rulegen::import_taso(taso, known, few).outcomes) {
      if (outcome.text.empty() && outcome.reason.empty()) std::abort();
      if (!outcome.text.empty()) rules::RuleSet::parse(outcome.text + "\n", "imported");
    }
  } catch (const rulegen::RulegenError& e) {
    if (e.where().rfind("fuzz", 0) != 0) std::abort();  // an error of importing, not of reading
  }
  return 0;
}
