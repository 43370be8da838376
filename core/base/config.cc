#include "core/base/config.h"

#include <toml++/toml.h>

#include <optional>
#include <sstream>

#include "core/base/file.h"
#include "core/base/text.h"

namespace regraft {
namespace {

std::string position(const std::string& source, const toml::source_region& region) {
  return source + ":" + std::to_string(region.begin.line);
}

std::string shown(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& typed) { out << typed; });
  return out.str();
}

// The node as one of our types, or nothing (dates, mixed arrays, arrays of tables).
std::optional<ConfigValue> to_value(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* text = node.as_string()) return text->get();
  const auto* array = node.as_array();
  if (!array) return std::nullopt;
  TextList list;
  for (const toml::node& item : *array) {
    if (!item.is_string()) return std::nullopt;
    list.push_back(item.as_string()->get());
  }
  return list;
}

/// Walks TOML tables and collects "a.b.c" keys with checked values.
class Reader {
 public:
  Reader(const OptionTable& table, const std::string& source) : table_(table), source_(source) {}

  std::map<std::string, ConfigValue, std::less<>> read(const toml::table& root) {
    walk(root, "");
    return std::move(values_);
  }

 private:
  void walk(const toml::table& part, const std::string& prefix) {
    for (const auto& [key, node] : part) {
      const std::string name = prefix + std::string(key.str());
      const std::string where = position(source_, node.source());
      const Option* option = table_.find(name);
      if (const toml::table* inner = node.as_table(); inner && !option) {
        if (inner->empty() && !table_.has_table(name)) table_.at(name, where);
        walk(*inner, name + ".");
        continue;
      }
      const Option& known = table_.at(name, where);
      const auto value = to_value(node);
      if (!value) {
        throw ConfigError("'" + name + "' cannot be " + shown(node), where, "it is " + known.allowed());
      }
      values_[name] = known.checked(*value, where);
    }
  }

  const OptionTable& table_;
  const std::string& source_;
  std::map<std::string, ConfigValue, std::less<>> values_;
};

toml::table parse_toml(std::string_view text, const std::string& source) {
  try {
    return toml::parse(text, source);
  } catch (const toml::parse_error& e) {
    throw ConfigError(std::string(e.description()), position(source, e.source()), "it must be TOML");
  }
}

}  // namespace

Config::Config(OptionTable table) : table_(std::move(table)) {
  for (const Option& option : table_.options()) values_[option.name()] = option.default_value();
}

void Config::merge_file(const std::filesystem::path& path) {
  merge_toml(read_file(path), path.string());
}

void Config::merge_toml(std::string_view text, const std::string& source) {
  const toml::table root = parse_toml(text, source);
  for (auto& [name, value] : Reader(table_, source).read(root)) {
    values_[name] = std::move(value);
    given_.insert(name);
  }
}

void Config::set(std::string_view key_and_value) {
  const auto equals = key_and_value.find('=');
  const std::string where = "--set " + std::string(key_and_value);
  if (equals == std::string_view::npos) throw ConfigError("there is no '='", where, "write --set key=value");
  const Option& option = table_.at(key_and_value.substr(0, equals), where);
  values_[option.name()] = option.parse(key_and_value.substr(equals + 1), where);
  given_.insert(option.name());
}

const ConfigValue& Config::value(std::string_view name) const {
  return values_.find(table_.at(name, "config").name())->second;
}

bool Config::given(std::string_view name) const {
  return given_.contains(table_.at(name, "config").name());
}

template <typename T>
const T& Config::get(std::string_view name) const {
  const ConfigValue& found = value(name);
  if (const T* typed = std::get_if<T>(&found)) return *typed;
  throw ConfigError("'" + std::string(name) + "' is declared as " + std::string(type_name(found)), "config",
                    "");
}

template const bool& Config::get<bool>(std::string_view) const;
template const std::int64_t& Config::get<std::int64_t>(std::string_view) const;
template const double& Config::get<double>(std::string_view) const;
template const std::string& Config::get<std::string>(std::string_view) const;
template const TextList& Config::get<TextList>(std::string_view) const;

std::string Config::to_toml() const {
  std::string text;
  for (const Option& option : table_.options()) {
    text += "# " + option.help() + " (" + option.allowed() + ")\n";
    text += option.name() + " = " + regraft::to_toml(value(option.name())) + "\n";
  }
  return text;
}

std::vector<ConfigDifference> differences(const Config& left, const Config& right) {
  std::vector<ConfigDifference> found;
  for (const Option& option : left.table().options()) {
    if (!right.table().find(option.name())) continue;
    const ConfigValue &a = left.value(option.name()), &b = right.value(option.name());
    if (a != b) found.push_back({option.name(), a, b, option.is_fixed_on_resume()});
  }
  return found;
}

std::string describe(const std::vector<ConfigDifference>& differences) {
  TextList lines;
  for (const ConfigDifference& d : differences) {
    lines.push_back(d.name + ": " + to_toml(d.left) + " -> " + to_toml(d.right));
  }
  return join(lines, "\n");
}

}
