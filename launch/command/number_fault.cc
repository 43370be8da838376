#include "launch/command/number_fault.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string>

namespace regraft::launch {
namespace {

/// What an option of this type takes, in words.
std::string allowed(const std::string& type) {
  const std::string kind = type.starts_with("FLOAT") ? "a finite number " : "a whole number ";
  if (const auto range = type.find(" in ["); range != std::string::npos) return kind + type.substr(range + 1);
  return kind + (type.find(":POSITIVE") != std::string::npos ? "above 0" : "of 0 or more");
}

/// Whether the text is a number that cannot be meant.
bool senseless(const std::string& text, bool real) {
  char* end = nullptr;
  errno = 0;
  if (real) {
    const double number = std::strtod(text.c_str(), &end);
    return end != text.c_str() && (!std::isfinite(number) || number < 0);
  }
  const long long number = std::strtoll(text.c_str(), &end, 0);
  if (end == text.c_str() || number < 0) return end != text.c_str();
  errno = 0;
  std::strtoull(text.c_str(), &end, 0);
  return errno == ERANGE;
}

}  // namespace

std::string number_fault(const std::string& text, const std::string& type) {
  const bool real = type.starts_with("FLOAT");
  if (!real && !type.starts_with("UINT") && !type.starts_with("INT")) return "";
  return senseless(text, real) ? "'" + text + "' is not allowed: give " + allowed(type) : "";
}

}
