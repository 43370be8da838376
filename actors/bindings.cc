#include "actors/bindings.h"

#include <charconv>

#include "core/base/error.h"

namespace regraft::actors {

NamedSizes parse_bindings(const std::vector<std::string>& texts, const std::string& where) {
  NamedSizes sizes;
  for (const std::string& text : texts) {
    const std::size_t at = text.find('=');
    std::int64_t value = 0;
    const char* const begin = text.data() + (at == std::string::npos ? text.size() : at + 1);
    const auto [end, problem] = std::from_chars(begin, text.data() + text.size(), value);
    const bool whole = problem == std::errc() && end == text.data() + text.size();
    if (at == 0 || !whole || value < 1)
      throw UsageError("'" + text + "' is no binding", where,
                       "write NAME=SIZE with a size of at least 1, such as batch=8");
    sizes[text.substr(0, at)] = value;
  }
  return sizes;
}

graph::Bindings bind_symbols(const NamedSizes& sizes, const graph::Tables& tables) {
  graph::Bindings bindings;
  for (const auto& [name, size] : sizes)
    if (const auto symbol = tables.find_symbol(name)) bindings.bind(*symbol, size);
  return bindings;
}

}  // namespace regraft::actors
