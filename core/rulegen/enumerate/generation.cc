#include "core/rulegen/enumerate/generation.h"

namespace regraft::rulegen {

std::size_t Generation::line_count() const {
  std::size_t count = 0;
  for (const GeneratedRule& rule : rules) count += rule.lines.size();
  return count;
}

std::string Generation::rules_text() const {
  std::string out =
      "# Made by regraft rules generate: equal on exact examples of many shapes, not "
      "proved.\n\n[generated]\n";
  for (std::size_t i = 0; i < rules.size(); ++i) {
    for (std::size_t way = 0; way < rules[i].lines.size(); ++way)
      out += "gen-" + std::to_string(i) + (way > 0 ? "-back" : "") + ": " + rules[i].lines[way] + "\n";
  }
  return out;
}

}
