#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/error.h"

namespace regraft {

/// A config, option or declaration that cannot be meant; says the key, the value and what is allowed. Exit
/// code 2.
class ConfigError : public UsageError {
 public:
  using UsageError::UsageError;
};

using TextList = std::vector<std::string>;
using ConfigValue = std::variant<bool, std::int64_t, double, std::string, TextList>;

/// "a bool", "an integer", "a number", "a string", "a list of strings".
std::string_view type_name(const ConfigValue& value);
/// As a TOML value.
std::string to_toml(const ConfigValue& value);

/// One key of the config, declared once, in code. Its type is its default's type.
///   Option("ppo.lr", 3e-4, "learning rate of the policy").between(0, 1)
class Option {
 public:
  Option(std::string name, bool value, std::string help)
      : Option(std::move(name), ConfigValue(value), std::move(help)) {}
  Option(std::string name, int value, std::string help)
      : Option(std::move(name), ConfigValue(std::int64_t{value}), std::move(help)) {}
  Option(std::string name, std::int64_t value, std::string help)
      : Option(std::move(name), ConfigValue(value), std::move(help)) {}
  Option(std::string name, double value, std::string help)
      : Option(std::move(name), ConfigValue(value), std::move(help)) {}
  Option(std::string name, const char* value, std::string help)
      : Option(std::move(name), ConfigValue(std::string(value)), std::move(help)) {}
  Option(std::string name, TextList value, std::string help)
      : Option(std::move(name), ConfigValue(std::move(value)), std::move(help)) {}

  /// Numbers: low <= value <= high.
  Option&& between(double low, double high) &&;
  Option&& at_least(double low) &&;
  /// Strings, and each string of a list.
  Option&& one_of(TextList choices) &&;
  /// A resumed run must have the same value.
  Option&& fixed_on_resume() &&;
  /// The name that it had in earlier versions: using it is an error that names this one. `how` says what
  /// former values are called now; empty where they are the same.
  Option&& formerly(std::string name, std::string how = "") &&;

  const std::string& name() const { return name_; }
  const ConfigValue& default_value() const { return default_; }
  const std::string& help() const { return help_; }
  const std::string& former_name() const { return former_name_; }
  const std::string& former_values() const { return former_values_; }
  bool is_fixed_on_resume() const { return fixed_on_resume_; }
  /// "an integer, 1 to 64", "one of a, b".
  std::string allowed() const;

  /// The value in this option's type (an integer is a number too). `where` is "file:line" or so. Throws
  /// ConfigError on another type, a value out of range, or a number that is not finite, text that is not
  /// UTF-8.
  ConfigValue checked(ConfigValue value, const std::string& where) const;
  /// From the text after "key=": a list's items are separated by commas. Throws ConfigError.
  ConfigValue parse(std::string_view text, const std::string& where) const;

 private:
  Option(std::string name, ConfigValue value, std::string help);
  [[noreturn]] void refuse(const std::string& shown, const std::string& where) const;
  bool in_range(const ConfigValue& value) const;

  std::string name_;
  ConfigValue default_;
  std::string help_, former_name_, former_values_;
  std::optional<double> low_, high_;
  TextList choices_;
  bool fixed_on_resume_ = false;
};

/// All options of a program, in the order in which they were declared.
class OptionTable {
 public:
  /// Throws ConfigError on a name declared twice, one that is also another's table ("a" beside "a.b"), or a
  /// default out of its own range.
  explicit OptionTable(std::vector<Option> options);

  std::span<const Option> options() const { return options_; }
  const Option* find(std::string_view name) const;
  /// Throws ConfigError with the nearest name, or with the present one for a former one.
  const Option& at(std::string_view name, const std::string& where) const;
  /// True where some option lies in this table: "ppo" for "ppo.lr".
  bool has_table(std::string_view name) const;

 private:
  std::vector<Option> options_;
};

}  // namespace regraft
