#include "core/rules/diagnostics.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace regraft::rules {
namespace {

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

// Levenshtein distance, without regard to case.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

void fail(std::string_view file, Position at, const std::string& what, const std::string& remedy) {
  throw RuleError(what, std::string(file) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column),
                  remedy);
}

std::string nearest(std::string_view name, std::span<const std::string_view> known, std::string otherwise) {
  constexpr std::size_t kLongest = 48;  // what is longer was not meant to be a name; distances are quadratic
  if (name.size() > kLongest) return otherwise;
  std::string_view best;
  std::size_t best_distance = name.size() / 2 + 2;
  for (std::string_view candidate : known) {
    const std::size_t longer = std::max(name.size(), candidate.size());
    if (longer - std::min(name.size(), candidate.size()) >= best_distance) continue;
    const std::size_t d = distance(name, candidate);
    if (d < best_distance) {
      best_distance = d;
      best = candidate;
    }
  }
  return best.empty() ? otherwise : "did you mean '" + std::string(best) + "'?";
}

}  // namespace regraft::rules
