#include "launch/command/command.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/find_config.h"
#include "core/base/text.h"
#include "launch/command/number_fault.h"

namespace regraft::launch {
namespace {

Check check_of(const CLI::Validator& validator) {
  return {[validator](std::string& text) { return validator(text); }, validator.get_description()};
}

/// The command that the arguments chose so far, the deepest one.
const CLI::App& chosen(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? app : chosen(*commands.front());
}

std::vector<std::string> known_words(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty())
      for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) words.push_back(command->get_name());
  return words;
}

/// What to type for a command.
std::string path_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent ? path_of(*parent) + " " + command.get_name() : command.get_name();
}

/// What CLI11 says, with the nearest option or command for a word that it does not know.
UsageError usage_error(const CLI::App& program, const CLI::ParseError& error) {
  std::string text = error.what();
  const CLI::App& command = chosen(program);
  const std::vector<std::string> unknown = command.remaining(true);
  if (!unknown.empty()) {
    text = "unknown option or command '" + unknown.front() + "'";
    const std::string hint = suggestion(unknown.front(), known_words(command));
    if (std::filesystem::exists(unknown.front()))
      text += " (for the file of that name write ./" + unknown.front() + ")";
    else if (!hint.empty())
      text += " (" + hint + ")";
  }
  return UsageError(text, "", "run `" + path_of(command) + " --help`");
}

}  // namespace

Check existing_file() {
  return check_of(CLI::ExistingFile);
}

Check existing_folder() {
  return check_of(CLI::ExistingDirectory);
}

Check positive_number() {
  return check_of(CLI::PositiveNumber);
}

Check non_negative_number() {
  return check_of(CLI::NonNegativeNumber);
}

template <typename T>
Check in_range(T least, T most) {
  return check_of(CLI::Range(least, most));
}
template Check in_range(int, int);
template Check in_range(double, double);
template Check in_range(std::uint64_t, std::uint64_t);

Option* Option::required() {
  option_.required();
  return this;
}

Option* Option::capture_default_str() {
  option_.capture_default_str();
  return this;
}

Option* Option::check(const Check& check) {
  option_.check(CLI::Validator(check.fault, check.help));
  return this;
}

Option* Option::found_in_configs() {
  const auto find = [](std::string& path) {
    if (path.starts_with("configs/")) path = find_config(path);
    return std::string();
  };
  option_.transform(CLI::Validator(find, ""));  // before its checks
  return this;
}

Option* Option::delimiter(char between) {
  option_.delimiter(between);
  return this;
}

Option* Option::needs(const Option* other) {
  option_.needs(&other->option_);
  return this;
}

Option* Option::excludes(const Option* other) {
  option_.excludes(&other->option_);
  return this;
}

Option* Option::excludes(const std::string& name) {
  option_.excludes(name);
  return this;
}

Option* Option::hidden() {
  option_.group("");
  return this;
}

Command::Command(const std::string& name, const std::string& help, const std::string& version)
    : app_(std::make_shared<CLI::App>(help, name)) {
  app_->set_version_flag("--version", version);
}

template <typename T>
Option* Command::add_option(const std::string& names, T& value, const std::string& help) {
  CLI::Option* const option = app_->add_option(names, value, help);
  const auto fault = [option](std::string& text) { return number_fault(text, option->get_type_name()); };
  option->transform(CLI::Validator(fault, ""));  // before its other checks, unlike check()
  return &options_.emplace_back(*option);
}
template Option* Command::add_option(const std::string&, int&, const std::string&);
template Option* Command::add_option(const std::string&, unsigned&, const std::string&);
template Option* Command::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option* Command::add_option(const std::string&, double&, const std::string&);
template Option* Command::add_option(const std::string&, std::string&, const std::string&);
template Option* Command::add_option(const std::string&, std::filesystem::path&, const std::string&);
template Option* Command::add_option(const std::string&, std::optional<double>&, const std::string&);
template Option* Command::add_option(const std::string&, std::optional<std::string>&, const std::string&);
template Option* Command::add_option(const std::string&, std::optional<std::filesystem::path>&,
                                     const std::string&);
template Option* Command::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option* Command::add_option(const std::string&, std::vector<std::filesystem::path>&,
                                     const std::string&);

Option* Command::add_flag(const std::string& names, bool& value, const std::string& help) {
  return &options_.emplace_back(*app_->add_flag(names, value, help));
}

Command* Command::add_subcommand(const std::string& name, const std::string& help) {
  return &commands_.emplace_back(app_->get_subcommand_ptr(app_->add_subcommand(name, help)));
}

void Command::require_subcommand() {
  app_->require_subcommand(1);
}

void Command::alias(const std::string& name) {
  app_->alias(name);
}

void Command::hide() {
  app_->group("");
}

void Command::prefix_command() {
  app_->prefix_command();
}

void Command::callback(std::function<void()> chosen) {
  app_->callback(std::move(chosen));
}

std::vector<std::string> Command::remaining() const {
  return app_->remaining();
}

std::optional<int> Command::parse(std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app_->parse(std::move(arguments));
  } catch (const CLI::Success& asked) {  // for help or version
    return app_->exit(asked);
  } catch (const CLI::ParseError& error) {
    throw usage_error(*app_, error);
  }
  return std::nullopt;
}

}
