#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/option.h"

namespace regraft {

/// A key on which two configs differ.
struct ConfigDifference {
  std::string name;
  ConfigValue left, right;
  bool fixed_on_resume = false;
};

/// The values of all options of a table: its defaults, overridden by TOML files and then by "key=value"
/// settings, in the order of the calls. An unknown key, a wrong type or a value out of range throws
/// ConfigError, and the config stays unchanged. The error names file and line, the key, the value, and what
/// is allowed or the nearest key.
class Config {
 public:
  explicit Config(OptionTable table);

  /// Throws FileError too.
  void merge_file(const std::filesystem::path& path);
  /// TOML text; `source` names it in errors.
  void merge_toml(std::string_view text, const std::string& source);
  /// As given to --set: "ppo.learning_rate=1e-4".
  void set(std::string_view key_and_value);

  /// The value of a declared key. Throws ConfigError where it is not declared with this type, which is a bug.
  bool flag(std::string_view name) const { return get<bool>(name); }
  std::int64_t integer(std::string_view name) const { return get<std::int64_t>(name); }
  double number(std::string_view name) const { return get<double>(name); }
  const std::string& text(std::string_view name) const { return get<std::string>(name); }
  const TextList& list(std::string_view name) const { return get<TextList>(name); }

  const OptionTable& table() const { return table_; }
  const ConfigValue& value(std::string_view name) const;
  /// Whether a file or a setting gave the key a value, be it its default. Throws ConfigError as value() does.
  bool given(std::string_view name) const;

  /// All values as TOML, each with its help as a comment; merge_toml reads it back to the same values.
  std::string to_toml() const;

 private:
  template <typename T>
  const T& get(std::string_view name) const;

  OptionTable table_;
  std::map<std::string, ConfigValue, std::less<>> values_;
  std::set<std::string, std::less<>> given_;
};

/// The keys whose values differ, in the order of the table. Both have the same table; a key that only one of
/// them has is not compared.
std::vector<ConfigDifference> differences(const Config& left, const Config& right);

/// One line for each: "ppo.learning_rate: 0.0003 -> 0.0001".
std::string describe(const std::vector<ConfigDifference>& differences);

}
