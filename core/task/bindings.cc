#include "core/task/bindings.h"

#include <charconv>

#include "core/base/error.h"

namespace regraft::task {

std::map<std::string, std::vector<std::int64_t>> parse_size_lists(const std::vector<std::string>& texts,
                                                                  const std::string& where) {
  std::map<std::string, std::vector<std::int64_t>> lists;
  std::string name;
  for (const std::string& text : texts) {
    const std::size_t at = text.rfind('=');
    const bool names = at != std::string::npos;
    if (names) name = text.substr(0, at);
    std::int64_t value = 0;
    const char* const begin = text.data() + (names ? at + 1 : 0);
    const auto [end, problem] = std::from_chars(begin, text.data() + text.size(), value);
    const bool whole = problem == std::errc() && end == text.data() + text.size();
    if (name.empty() || !whole || value < 1)
      throw UsageError("'" + text + "' is no binding", where,
                       "write NAME=SIZE with a size of at least 1, such as batch=8");
    if (names && lists.contains(name))
      throw UsageError("dim '" + name + "' is bound twice", where, "write NAME=SIZE,SIZE for several sizes");
    lists[name].push_back(value);
  }
  return lists;
}

NamedSizes parse_bindings(const std::vector<std::string>& texts, const std::string& where) {
  NamedSizes sizes;
  for (const auto& [name, values] : parse_size_lists(texts, where)) {
    if (values.size() > 1)
      throw UsageError("dim '" + name + "' has " + std::to_string(values.size()) + " sizes", where,
                       "give one size here");
    sizes[name] = values.front();
  }
  return sizes;
}

std::vector<std::string> binding_texts(const NamedSizes& sizes) {
  std::vector<std::string> texts;
  for (const auto& [name, size] : sizes) texts.push_back(name + "=" + std::to_string(size));
  return texts;
}

std::string own_dim(const std::string& model, const std::string& dim) {
  return model + ":" + dim;
}

NamedSizes sizes_for(const std::string& model, const NamedSizes& sizes) {
  const std::string prefix = own_dim(model, "");
  NamedSizes own, all;
  for (const auto& [name, size] : sizes) {
    if (name.starts_with(prefix))
      own[name.substr(prefix.size())] = size;
    else
      all[name] = size;
  }
  own.merge(all);
  return own;
}

graph::Bindings bind_symbols(const NamedSizes& sizes, const graph::Tables& tables) {
  graph::Bindings bindings;
  for (const auto& [name, size] : sizes)
    if (const auto symbol = tables.find_symbol(name)) bindings.bind(*symbol, size);
  return bindings;
}

}
