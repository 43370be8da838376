#include "launch/command/error_printer.h"
#include "core/base/json_text.h"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

namespace regraft::launch {
namespace {

constexpr char kVariable[] = "REGRAFT_ERRORS";

}  // namespace

ErrorPrinter ErrorPrinter::from_environment() {
  const char* format = std::getenv(kVariable);
  const ErrorPrinter printer(format && format == std::string_view("json"));
  ::unsetenv(kVariable);
  return printer;
}

void ErrorPrinter::print(const Error& error) const {
  using nlohmann::json;
  const json parts{{"what", error.problem()}, {"where", error.where()}, {"remedy", error.remedy()}};
  const std::string text = json_ ? json_text(parts) : std::string("regraft: ") + error.what();
  std::fprintf(stderr, "%s\n", text.c_str());
}

}
