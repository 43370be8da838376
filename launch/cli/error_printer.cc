#include "launch/cli/error_printer.h"

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
  const std::string text = json_ ? parts.dump(-1, ' ', false, json::error_handler_t::replace)
                                 : std::string("regraft: ") + error.what();
  std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace regraft::launch
