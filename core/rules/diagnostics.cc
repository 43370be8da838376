#include "core/rules/diagnostics.h"

#include <vector>

#include "core/base/text.h"

namespace regraft::rules {
void fail(std::string_view file, Position at, const std::string& what, const std::string& remedy) {
  throw RuleError(what, std::string(file) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column),
                  remedy);
}

std::string nearest(std::string_view name, std::span<const std::string_view> known, std::string otherwise) {
  constexpr std::size_t kLongest = 48;  // what is longer was not meant to be a name; distances are quadratic
  if (name.size() > kLongest) return otherwise;
  const auto best = regraft::nearest(name, std::vector<std::string>(known.begin(), known.end()));
  return best ? "did you mean '" + *best + "'?" : otherwise;
}

}  // namespace regraft::rules
