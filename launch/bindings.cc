#include "launch/bindings.h"

#include <charconv>

#include "core/base/error.h"

namespace regraft::launch {

exec::SymbolSizes parse_bindings(const std::vector<std::string>& texts) {
  exec::SymbolSizes sizes;
  for (const std::string& text : texts) {
    const std::size_t at = text.find('=');
    std::int64_t value = 0;
    const char* const begin = text.data() + (at == std::string::npos ? text.size() : at + 1);
    const auto [end, problem] = std::from_chars(begin, text.data() + text.size(), value);
    const bool whole = problem == std::errc() && end == text.data() + text.size();
    if (at == 0 || !whole || value < 1)
      throw UsageError("'" + text + "' is no binding", "--bind",
                       "write NAME=SIZE with a size of at least 1, such as batch=8");
    sizes[text.substr(0, at)] = value;
  }
  return sizes;
}

}  // namespace regraft::launch
