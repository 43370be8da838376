#include "core/base/child_error.h"

#include <string_view>

namespace regraft {

std::string child_error(const Captured& child, const std::string& command) {
  constexpr std::string_view kOwn = "regraft: ";
  if (child.timed_out) return command + " took too long";
  const std::size_t last = child.errors.rfind("\n" + std::string(kOwn));
  const std::size_t at = last == std::string::npos ? 0 : last + 1;
  if (std::string_view(child.errors).substr(at).starts_with(kOwn)) {
    std::string text = child.errors.substr(at + kOwn.size());
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }
  constexpr std::size_t kShownBytes = 1000;  // of what it wrote last
  const std::string end = child.errors.size() > kShownBytes
                              ? child.errors.substr(child.errors.size() - kShownBytes)
                              : child.errors;
  return command + (child.status.signal == 0 ? " ended with " : " was ") + child.status.describe() +
         (end.empty() ? "" : ": " + end);
}

}
