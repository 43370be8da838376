#include "launch/job/job_config.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/atomic_file.h"
#include "core/base/file.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

/// A cell of a table in Markdown.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != text.npos; at += 2) text.insert(at, "\\");
  return " " + text + " |";
}

std::string page_of(const OptionTable& table) {
  std::string page, group;
  for (const regraft::Option& option : table.options()) {
    const std::string of = option.name().substr(0, option.name().find('.'));
    if (of != group)
      page += (page.empty() ? "## " : "\n## ") + of +
              "\n\n| key | default | what it may be | what it is |\n|---|---|---|---|\n";
    group = of;
    page += "|" + cell(option.name()) + cell("`" + to_toml(option.default_value()) + "`") +
            cell(option.allowed() + (option.is_fixed_on_resume() ? "; fixed" : "")) + cell(option.help()) +
            "\n";
  }
  return page;
}

TEST(JobConfig, HasAPageOfAllKeys) {
  const fs::path page = fs::path(REGRAFT_SOURCE_DIR) / "launch/docs/config.md";
  const std::string text = read_file(page), made = page_of(job_options());
  const std::size_t begin = std::min(text.find("## "), text.size());
  if (text.substr(begin) == made) return;
  const fs::path other = fs::path(REGRAFT_BINARY_DIR) / "config.md";
  write_file_atomic(other, text.substr(0, begin) + made);
  ADD_FAILURE() << page << " is not what the program takes; if that is meant: cp " << other << ' ' << page;
}

}  // namespace
}
