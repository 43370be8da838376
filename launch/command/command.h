#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace regraft::launch {

/// Which values an option takes: `fault` says what is wrong with one (empty: nothing), `help` which they are.
struct Check {
  std::function<std::string(std::string&)> fault;
  std::string help;
};

Check existing_file();
Check existing_folder();
Check positive_number();
Check non_negative_number();
template <typename T>  // int, double or std::uint64_t
Check in_range(T least, T most);

/// One option or argument of a command. The functions return it, to be called in a row.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(option) {}

  Option* required();
  Option* capture_default_str();  // help shows the value that the option's variable has now
  Option* check(const Check& check);
  Option* found_in_configs();  // a path below configs/ is the installation's (core/base/find_config.h)
  Option* delimiter(char between);
  Option* needs(const Option* other);
  Option* excludes(const Option* other);
  Option* excludes(const std::string& name);
  Option* hidden();

 private:
  CLI::Option& option_;
};

/// What the chosen command does, returning an exit code; set by the command's callback, run after parsing, so
/// that errors are caught in one place.
using Action = std::function<int()>;

/// A program or one of its commands. This is all of CLI11 that commands see: its headers define whole classes
/// inline, which every file that includes them would compile again.
class Command {
 public:
  Command(const std::string& name, const std::string& help, const std::string& version);
  explicit Command(std::shared_ptr<CLI::App> app) : app_(std::move(app)) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// The types are listed in command.cc. An option that takes a number refuses what none can mean
  /// (number_fault.h).
  template <typename T>
  Option* add_option(const std::string& names, T& value, const std::string& help = "");
  Option* add_flag(const std::string& names, bool& value, const std::string& help);
  Command* add_subcommand(const std::string& name, const std::string& help);
  void require_subcommand();
  void alias(const std::string& name);
  void hide();            // from help and completion
  void prefix_command();  // all that follows its name is left to `remaining`

  /// To be called where the command was chosen, once all was parsed.
  void callback(std::function<void()> chosen);
  std::vector<std::string> remaining() const;

  /// Parses what follows the program's name. Returns an exit code where that asks for help or version, which
  /// is then printed. Throws UsageError, with the nearest option or command for a word that is not known.
  std::optional<int> parse(std::vector<std::string> arguments);

  const CLI::App& app() const { return *app_; }

 private:
  std::shared_ptr<CLI::App> app_;
  std::list<Option> options_{};    // their addresses were given out
  std::list<Command> commands_{};  // theirs too
};

}
