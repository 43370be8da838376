#include "launch/cli/numeric_options.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string>

namespace regraft::launch {
namespace {

/// What an option of this type takes, in words: CLI11 writes "FLOAT:FLOAT in [1 - 60]", "UINT",
/// "FLOAT:POSITIVE".
std::string allowed(const std::string& type) {
  const std::string kind = type.starts_with("FLOAT") ? "a finite number " : "a whole number ";
  if (const auto range = type.find(" in ["); range != std::string::npos) return kind + type.substr(range + 1);
  return kind + (type.find(":POSITIVE") != std::string::npos ? "above 0" : "of 0 or more");
}

/// Whether the text is a number that cannot be meant. What is no number at all CLI11 refuses.
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

void check_numbers(CLI::App& program) {
  for (CLI::Option* option : program.get_options([](CLI::Option*) { return true; })) {
    const std::string type = option->get_type_name();
    const bool real = type.starts_with("FLOAT");
    if (!real && !type.starts_with("UINT") && !type.starts_with("INT")) continue;
    const auto check = [real, wanted = allowed(type)](std::string& text) {
      return senseless(text, real) ? "'" + text + "' is not allowed: give " + wanted : std::string();
    };
    option->transform(CLI::Validator(check, ""));  // before its other checks, unlike check()
  }
  for (CLI::App* command : program.get_subcommands([](CLI::App*) { return true; })) check_numbers(*command);
}

}  // namespace regraft::launch
