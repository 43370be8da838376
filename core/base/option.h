#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/enum_names.h"
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

/// What an option may be, beside its type.
struct Allowed {
  std::optional<double> low = std::nullopt, high = std::nullopt;  // of numbers: low <= value <= high
  bool above_low = false;                                         // low < value
  TextList choices = {};                                          // of strings, and each string of a list
  bool fixed_on_resume = false;                                   // a resumed run must have the same value
  std::string former_name = {}, former_values = {};  // what it was called: an error that says what to write

  Allowed fixed() &&;
  Allowed formerly(std::string name, std::string values = "") &&;
};
Allowed any();
Allowed between(double low, double high);
Allowed above(double low, double high);
Allowed at_least(double low);
Allowed one_of(TextList choices);

/// The value in the config's own types: integers of all widths, paths as strings, enums by their names.
template <typename T>
ConfigValue to_config_value(const T& value);
/// The other way round. Throws std::bad_variant_access on another type, which is a bug.
template <typename T>
void assign(T& to, const ConfigValue& value);

/// One key of the config. Its type is its default's type; an enum's choices are its names.
///   Option("ppo.learning_rate", 3e-4, between(0, 1), "learning rate of the policy")
class Option {
 public:
  template <typename T>
  Option(std::string name, const T& value, Allowed allowed, std::string help)
      : name_(std::move(name)),
        default_(to_config_value(value)),
        allowed_(std::move(allowed)),
        help_(std::move(help)) {
    if constexpr (NamedEnum<T>) {
      const auto names = enum_names(value);
      allowed_.choices.assign(names.begin(), names.end());
    }
  }

  const std::string& name() const { return name_; }
  const ConfigValue& default_value() const { return default_; }
  const std::string& help() const { return help_; }
  bool is_fixed_on_resume() const { return allowed_.fixed_on_resume; }
  void fix_on_resume() { allowed_.fixed_on_resume = true; }
  const std::string& former_name() const { return allowed_.former_name; }
  /// "an integer, 1 to 64", "one of a, b".
  std::string allowed() const;

  /// The value in this option's type (an integer is a number too). `where` is "file:line" or so. Throws
  /// ConfigError on another type, a value out of range, or a number that is not finite, text that is not
  /// UTF-8.
  ConfigValue checked(ConfigValue value, const std::string& where) const;
  /// From the text after "key=": a list's items are separated by commas. Throws ConfigError.
  ConfigValue parse(std::string_view text, const std::string& where) const;
  /// Throws ConfigError: a key has the former name.
  [[noreturn]] void refuse_former_name(const std::string& where) const;

 private:
  [[noreturn]] void refuse(const std::string& shown, const std::string& where) const;
  bool in_range(const ConfigValue& value) const;

  std::string name_;
  ConfigValue default_;
  Allowed allowed_;
  std::string help_;
};

/// All options of a program, in the order in which they were declared.
class OptionTable {
 public:
  /// Throws ConfigError on a name declared twice, be it a former one, one that is also another's table ("a"
  /// beside "a.b"), or a default out of its own range.
  explicit OptionTable(std::vector<Option> options);

  std::span<const Option> options() const { return options_; }
  const Option* find(std::string_view name) const;
  /// Throws ConfigError with the nearest name, or the one that a former one has now.
  const Option& at(std::string_view name, const std::string& where) const;
  /// True where some option lies in this table: "ppo" for "ppo.learning_rate".
  bool has_table(std::string_view name) const;

 private:
  std::vector<Option> options_;
};

template <typename T>
ConfigValue to_config_value(const T& value) {
  if constexpr (NamedEnum<T>) {
    return std::string(enum_name(value));
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, TextList>) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::int64_t>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return double{value};
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    return value.string();
  } else {
    return std::string(value);
  }
}

template <typename T>
void assign(T& to, const ConfigValue& value) {
  if constexpr (NamedEnum<T>) {
    to = *enum_value<T>(std::get<std::string>(value));
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    to = std::get<std::string>(value);
  } else {
    constexpr bool integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;
    to = static_cast<T>(std::get<std::conditional_t<integer, std::int64_t, T>>(value));
  }
}

}
