#include "core/env/rule_features.h"

#include <cctype>
#include <cmath>

#include "core/base/hash.h"

namespace regraft::env {
namespace {

constexpr std::size_t kBuckets = kRuleFeatures - 1;  // the last feature says NO-OP

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

void add_hashed(std::vector<float>& row, const std::string& term) {
  const Hash128 hash = hash_text(term);
  row[hash.low % kBuckets] += (hash.high & 1) ? 1.0f : -1.0f;
}

void scale_to_unit_rms(std::vector<float>& row) {
  double squares = 0;
  for (const float value : row) squares += static_cast<double>(value) * value;
  if (squares == 0) return;
  const double scale = std::sqrt(static_cast<double>(kBuckets) / squares);
  for (float& value : row) value = static_cast<float>(value * scale);
}

void append_all_sites_rows(RuleFeatureTable& table) {
  constexpr float kPart = 0.5f;  // of a rule's root mean square
  for (std::size_t rule = 0; rule < table.rule_count; ++rule) {
    for (std::size_t k = 0; k < kBuckets; ++k) {
      const bool up = hash_text("everywhere " + std::to_string(k)).high & 1;  // another text: other features
      table.features.push_back(table.features[rule * kRuleFeatures + k] + (up ? kPart : -kPart));
    }
    table.features.push_back(0.0f);
  }
}

}  // namespace

std::vector<std::string> rule_tokens(std::string_view text) {
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (is_word(text[at])) {
      while (end < text.size() && is_word(text[end])) ++end;
    } else if (text.substr(at, 2) == "=>") {
      end = at + 2;
    }
    if (!std::isspace(static_cast<unsigned char>(text[at]))) tokens.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

std::vector<float> rule_feature_row(std::string_view text) {
  std::vector<float> row(kRuleFeatures, 0.0f);
  std::string side = "L ", previous;
  for (const std::string& token : rule_tokens(text)) {
    if (token == "=>") side = "R ";
    add_hashed(row, side + token);
    if (!previous.empty()) add_hashed(row, side + previous + " " + token);
    previous = token;
  }
  scale_to_unit_rms(row);
  return row;
}

RuleFeatureTable make_rule_features(const rules::RuleSet& rules, ActionMode mode) {
  RuleFeatureTable table;
  table.action_mode = mode;
  table.rule_count = rules.size();
  table.features.reserve((rules.size() + 1) * kRuleFeatures);
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    std::string_view text = rules.info(rule).text;
    const std::string name = rules.info(rule).name + ":";
    if (text.starts_with(name)) text.remove_prefix(name.size());  // what a rule is called says nothing
    const std::vector<float> row = rule_feature_row(text);
    table.features.insert(table.features.end(), row.begin(), row.end());
  }
  table.features.resize((rules.size() + 1) * kRuleFeatures, 0.0f);
  table.features.back() = 1.0f;
  if (mode == ActionMode::all_sites) append_all_sites_rows(table);
  return table;
}

}
