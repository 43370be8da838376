#include "core/task/load_rule_set.h"

#include <cstdio>
#include <set>
#include <string>
#include <system_error>

#include "core/base/error.h"
#include "core/base/find_config.h"
#include "core/base/mutex.h"
#include "core/base/text.h"
#include "core/rules/set/status_table.h"

namespace regraft::task {

namespace fs = std::filesystem;
namespace {

constexpr const char* kShipped = "configs/rules";

/// True once for each path: a job loads its rules many times.
bool is_first_time(const fs::path& path) {
  static Mutex mutex;
  static std::set<fs::path> told GUARDED_BY(mutex);
  const MutexLock lock(mutex);
  return told.insert(path).second;
}

/// Whether it is the installation's own folder of rules, or in it.
bool is_shipped(const fs::path& rules) {
  std::error_code problem;
  const fs::path folder = fs::is_directory(rules) ? rules : fs::absolute(rules).parent_path();
  return fs::equivalent(folder, find_config(kShipped), problem);
}

void tell_what_is_left_out(const rules::RuleSet& rules, const fs::path& path) {
  if (rules.left_out().empty() || !is_first_time(path)) return;
  std::fprintf(stderr,
               "regraft: warning: %s: left out, as not known well enough: %s; run 'regraft rules verify "
               "--write --rules %s', or give tested:%s\n",
               path.c_str(), join(rules.left_out(), ", ").c_str(), path.c_str(), path.c_str());
}

}  // namespace

rules::RuleSet load_rule_set(const fs::path& option, const std::vector<std::string>& domains) {
  const std::string text = option.string();
  const std::size_t colon = text.find(':');
  if (text.substr(0, colon) == rules::kFormerBounded)
    throw UsageError("'bounded' is called 'bounded_checked' now", text, "");
  const auto least = rules::status_from_name(text.substr(0, colon));
  const fs::path path = find_config(!least                       ? option
                                    : colon == std::string::npos ? fs::path(kShipped)
                                                                 : fs::path(text.substr(colon + 1)));
  rules::RuleSet rules =
      rules::RuleSet::load(path, {least.value_or(rules::RuleStatus::bounded_checked), domains});
  if (!is_shipped(path)) tell_what_is_left_out(rules, path);
  return rules;
}

}
