#include "core/rules/set/rule_set.h"

#include <algorithm>
#include <set>

#include "core/base/file.h"
#include "core/rules/compile/compile_rule.h"
#include "core/rules/lang/parse_rules.h"
#include "core/rules/set/status_table.h"

namespace regraft::rules {
namespace {

std::vector<std::filesystem::path> rule_files(const std::filesystem::path& file_or_folder) {
  if (!std::filesystem::is_directory(file_or_folder)) return {file_or_folder};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(file_or_folder)) {
    if (entry.path().extension() == ".rules") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (files.empty())
    throw RuleError("no .rules file in this folder", file_or_folder.string(),
                    "name a file or another folder");
  return files;
}

/// "/k=3" of a rule that takes these values of finite sets; else empty.
std::string_view values_of(const RuleInfo& info) {
  const std::string_view name = info.name;
  return name.substr(std::min(name.find('/'), name.size()));
}

/// The domain of the first op that the rule makes and that is a runtime's own.
std::string made_domain(const CompiledRule& rule) {
  for (const RightStep& step : rule.right) {
    if (step.form != RightStep::Form::operation || step.op) continue;  // an op variable repeats what is there
    if (const std::string_view domain = graph::op_info(step.kind).domain; !domain.empty())
      return std::string(domain);
  }
  return "";
}

}  // namespace

RuleSet::RuleSet() = default;
RuleSet::RuleSet(RuleSet&&) noexcept = default;
RuleSet& RuleSet::operator=(RuleSet&&) noexcept = default;
RuleSet::~RuleSet() = default;

RuleSet RuleSet::load(const std::filesystem::path& file_or_folder, const RuleChoice& choice) {
  RuleSet set;
  for (const auto& file : rule_files(file_or_folder)) set.append(read_file(file), file.string());
  if (set.size() == 0)
    throw RuleError("holds no rules", file_or_folder.string(), "write one as name: pattern => replacement");
  for (std::size_t i = 0; i < set.size(); ++i)
    for (const PatternNode& node : set.compiled_[i]->nodes)
      if (node.kinds.test(static_cast<std::size_t>(graph::OpKind::opaque)))
        fail(set.infos_[i].file.string(), node.at, "rewrites leave this op alone", "see core/graph/ops.md");
  set.keep(file_or_folder, choice);
  return set;
}

void RuleSet::keep(const std::filesystem::path& source, const RuleChoice& choice) {
  const RuleStatus least = choice.least;
  StatusTables tables;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < infos_.size(); ++i) {
    const std::string& domain = infos_[i].domain;
    if (!domain.empty() && std::ranges::find(choice.domains, domain) == choice.domains.end()) {
      other_domains_.emplace_back(infos_[i].name, domain);
      continue;
    }
    const StatusTable& statuses = tables.of(infos_[i]);
    infos_[i].status = statuses.of(infos_[i]);
    if (infos_[i].status > least) {
      left_out_.push_back(infos_[i].name);
      continue;
    }
    if (least == RuleStatus::proved || statuses.proved_ranks_only(infos_[i]))
      compiled_[i]->most_rank = statuses.proved_ranks(infos_[i]);
    if (kept != i) {
      infos_[kept] = std::move(infos_[i]);
      compiled_[kept] = std::move(compiled_[i]);
    }
    ++kept;
  }
  infos_.resize(kept);
  compiled_.resize(kept);
  if (kept == 0 && !left_out_.empty()) {
    throw RuleError("none of " + std::to_string(left_out_.size()) + " rules is " +
                        std::string(status_name(least)) + " or better",
                    source.string(), "run 'regraft rules verify --write', or ask for tested rules");
  }
  if (kept == 0 && !other_domains_.empty())
    throw RuleError("all rules make ops of " + other_domains_[0].second, source.string(),
                    "allow them by --allow-domain " + other_domains_[0].second);
}

std::string RuleSet::refused_domain(std::string_view rule) const {
  for (const auto& [name, domain] : other_domains_)
    if (name == rule) return domain;
  return "";
}

RuleSet RuleSet::parse(std::string_view text, std::string_view file_name) {
  RuleSet set;
  set.append(text, file_name);
  return set;
}

RuleSet RuleSet::alone(const RuleInfo& info) {
  RuleSet line = parse(info.text, info.file.string()), set;
  set.compiled_.push_back(std::move(line.compiled_[line.find(info.name).value()]));
  set.infos_.push_back(info);
  return set;
}

void RuleSet::append(std::string_view text, std::string_view file_name) {
  for (const RuleText& rule : parse_rules(text, file_name)) {
    for (NamedRule& named : compile_rule(rule, file_name)) {
      if (const auto first = find(named.name)) {
        const RuleInfo& info = infos_[*first];
        fail(file_name, rule.at,
             "a second rule named '" + named.name + "', whose first is in " + info.file.string() + ":" +
                 std::to_string(info.line),
             "give one of them another name");
      }
      infos_.push_back({.name = std::move(named.name),
                        .family = rule.family,
                        .together = rule.together,
                        .text = rule.text,
                        .file = file_name,
                        .line = rule.at.line,
                        .domain = made_domain(named.rule),
                        .marks = rule.marks});
      compiled_.push_back(std::make_unique<CompiledRule>(std::move(named.rule)));
    }
  }
}

std::optional<std::size_t> RuleSet::find(std::string_view name) const {
  const auto found =
      std::find_if(infos_.begin(), infos_.end(), [&](const RuleInfo& info) { return info.name == name; });
  return found == infos_.end() ? std::nullopt
                               : std::optional(static_cast<std::size_t>(found - infos_.begin()));
}

std::vector<std::uint32_t> RuleSet::together_with(std::uint32_t rule) const {
  const RuleInfo& asked = infos_[rule];
  if (!asked.together) return {rule};
  std::vector<std::uint32_t> family;
  for (std::uint32_t other = 0; other < infos_.size(); ++other) {
    const RuleInfo& info = infos_[other];
    const std::string_view values = values_of(info);
    if (info.together && info.family == asked.family && (values.empty() || values == values_of(asked)))
      family.push_back(other);
  }
  return family;
}

void RuleSet::exclude(std::string_view name) {
  const auto found = find(name);
  if (!found) return;
  const auto at = static_cast<std::ptrdiff_t>(*found);
  infos_.erase(infos_.begin() + at);
  compiled_.erase(compiled_.begin() + at);
}

void RuleSet::exclude_marked() {
  std::vector<std::string> marked;
  for (const RuleInfo& info : infos_)
    if (!info.marks.empty()) marked.push_back(info.name);
  for (const std::string& name : marked) exclude(name);
}

const CompiledRule& RuleSet::compiled(std::size_t rule) const {
  return *compiled_[rule];
}

Hash128 RuleSet::hash() const {
  Hasher hasher(17);
  for (const RuleInfo& info : infos_) {
    hasher.add(hash_text(info.name));
    hasher.add(hash_text(info.text));
  }
  return hasher.finish();
}

}
