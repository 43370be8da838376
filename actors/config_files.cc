#include "actors/config_files.h"

#include <dlfcn.h>

#include <string>
#include <system_error>

#include "core/rules/rule_status.h"

namespace regraft::actors {

namespace fs = std::filesystem;
namespace {

/// The program, and the library that holds this code where the program is another's (Python).
std::vector<fs::path> own_files() {
  std::error_code problem;
  std::vector<fs::path> files{fs::read_symlink("/proc/self/exe", problem)};
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&find_config), &library) != 0 && library.dli_fname)
    files.push_back(fs::canonical(library.dli_fname, problem));
  return files;  // a path that cannot be found out is empty
}

}  // namespace

fs::path find_config(const fs::path& path) {
  if (path.is_absolute() || fs::exists(path)) return path;
  for (const fs::path& file : own_files())
    for (fs::path folder = file.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
      if (fs::exists(folder / path)) return folder / path;
  return path;
}

rules::RuleSet load_rule_set(const fs::path& option, const std::vector<std::string>& domains) {
  const std::string text = option.string();
  const std::size_t colon = text.find(':');
  const auto least = rules::status_from_name(text.substr(0, colon));
  if (!least) return rules::RuleSet::load(find_config(option), {rules::RuleStatus::bounded, domains});
  const fs::path path =
      colon == std::string::npos ? fs::path("configs/rules") : fs::path(text.substr(colon + 1));
  return rules::RuleSet::load(find_config(path), {*least, domains});
}

}  // namespace regraft::actors
