#include "core/base/option.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "core/base/text.h"

namespace regraft {
namespace {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

TextList split_list(std::string_view text) {
  TextList items;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    items.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return items;
}

// A basic TOML string. toml++'s own printing loses the first of several newlines.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (const auto code = static_cast<unsigned char>(c); code < 0x20 || code == 0x7F) {
      out += fmt::format("\\u{:04X}", code);
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

std::string_view type_name(const ConfigValue& value) {
  constexpr std::string_view names[] = {"a bool", "an integer", "a number", "a string", "a list of strings"};
  return names[value.index()];
}

std::string to_toml(const ConfigValue& value) {
  return std::visit(Overloaded{[](bool flag) { return std::string(flag ? "true" : "false"); },
                               [](std::int64_t number) { return std::to_string(number); },
                               [](double number) {
                                 const std::string text =
                                     fmt::format("{}", number);  // the shortest that reads back
                                 const bool integral = text.find_first_of(".e") == std::string::npos;
                                 return integral ? text + ".0" : text;
                               },
                               [](const std::string& text) { return quoted(text); },
                               [](const TextList& list) {
                                 TextList items;
                                 for (const std::string& item : list) items.push_back(quoted(item));
                                 return "[" + join(items, ", ") + "]";
                               }},
                    value);
}

Allowed Allowed::fixed() && {
  fixed_on_resume = true;
  return std::move(*this);
}

Allowed Allowed::formerly(std::string name, std::string values) && {
  former_name = std::move(name);
  former_values = std::move(values);
  return std::move(*this);
}

Allowed any() {
  return {};
}

Allowed between(double low, double high) {
  return {.low = low, .high = high};
}

Allowed above(double low, double high) {
  return {.low = low, .high = high, .above_low = true};
}

Allowed at_least(double low) {
  return {.low = low};
}

Allowed one_of(TextList choices) {
  return {.choices = std::move(choices)};
}

std::string Option::allowed() const {
  std::string text(type_name(default_));
  const auto& [low, high, above_low, choices, fixed, former_name, former_values] = allowed_;
  if (!choices.empty())
    text += (default_.index() == 4 ? ", each one of " : ", one of ") + join(choices, ", ");
  if (above_low) {
    text += fmt::format(", above {} and at most {}", *low, *high);
  } else if (low && high) {
    text += fmt::format(", {} to {}", *low, *high);
  } else if (low) {
    text += fmt::format(", at least {}", *low);
  }
  return text;
}

void Option::refuse(const std::string& shown, const std::string& where) const {
  throw ConfigError("'" + name_ + "' cannot be " + shown, where, "it is " + allowed());
}

bool Option::in_range(const ConfigValue& value) const {
  const auto known = [&](const std::string& text) {
    return is_utf8(text) &&
           (allowed_.choices.empty() || std::ranges::find(allowed_.choices, text) != allowed_.choices.end());
  };
  const auto inside = [&](double number) {
    return std::isfinite(number) && (!allowed_.low || number >= *allowed_.low) &&
           (!allowed_.above_low || number > *allowed_.low) && (!allowed_.high || number <= *allowed_.high);
  };
  return std::visit(
      Overloaded{
          [](bool) { return true; }, [&](std::int64_t number) { return inside(static_cast<double>(number)); },
          [&](double number) { return inside(number); }, [&](const std::string& text) { return known(text); },
          [&](const TextList& list) { return std::all_of(list.begin(), list.end(), known); }},
      value);
}

ConfigValue Option::checked(ConfigValue value, const std::string& where) const {
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer && std::holds_alternative<double>(default_)) value = static_cast<double>(*integer);
  if (value.index() != default_.index() || !in_range(value)) refuse(to_toml(value), where);
  return value;
}

ConfigValue Option::parse(std::string_view text, const std::string& where) const {
  const std::string shown = "'" + std::string(text) + "'";
  const auto required = [&](const auto& number) {
    if (!number) refuse(shown, where);
    return ConfigValue(*number);
  };
  const auto flag = [&]() -> std::optional<bool> {
    if (text == "true") return true;
    if (text == "false") return false;
    return std::nullopt;
  };
  return checked(
      std::visit(Overloaded{[&](bool) { return required(flag()); },
                            [&](std::int64_t) { return required(parse_number<std::int64_t>(text)); },
                            [&](double) { return required(parse_number<double>(text)); },
                            [&](const std::string&) { return ConfigValue(std::string(text)); },
                            [&](const TextList&) { return ConfigValue(split_list(text)); }},
                 default_),
      where);
}

void Option::refuse_former_name(const std::string& where) const {
  throw ConfigError("'" + former_name() + "' is called '" + name_ + "' now", where, allowed_.former_values);
}

OptionTable::OptionTable(std::vector<Option> options) : options_(std::move(options)) {
  std::set<std::string> names;
  for (const Option& option : options_) {
    if (!names.insert(option.name()).second) throw ConfigError("is declared twice", option.name(), "");
    if (!option.former_name().empty() && !names.insert(option.former_name()).second)
      throw ConfigError("is declared twice", option.former_name(), "");
    option.checked(option.default_value(), "default");
  }
  for (const std::string& name : names) {
    if (has_table(name)) throw ConfigError("is declared as a key and as a table", name, "");
  }
}

const Option* OptionTable::find(std::string_view name) const {
  const auto at =
      std::find_if(options_.begin(), options_.end(), [&](const Option& o) { return o.name() == name; });
  return at == options_.end() ? nullptr : &*at;
}

const Option& OptionTable::at(std::string_view name, const std::string& where) const {
  if (const Option* option = find(name)) return *option;
  for (const Option& option : options_)
    if (!name.empty() && option.former_name() == name) option.refuse_former_name(where);
  TextList names;
  for (const Option& option : options_) names.push_back(option.name());
  throw ConfigError("there is no key '" + std::string(name) + "'", where, suggestion(name, names));
}

bool OptionTable::has_table(std::string_view name) const {
  const std::string prefix = std::string(name) + ".";
  return std::any_of(options_.begin(), options_.end(),
                     [&](const Option& o) { return o.name().starts_with(prefix); });
}

}
