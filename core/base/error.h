#pragma once

#include <stdexcept>
#include <string>

namespace regraft {

/// Base of every error the program reports. It carries what went wrong, where (a file, a node, a config key)
/// and what the user can do; each layer derives its own type. Caught at the program's edge, which prints
/// what() and exits.
class Error : public std::runtime_error {
 public:
  Error(std::string what, std::string where, std::string remedy)
      : std::runtime_error(render(what, where, remedy)),
        what_(std::move(what)),
        where_(std::move(where)),
        remedy_(std::move(remedy)) {}

  const std::string& problem() const { return what_; }
  const std::string& where() const { return where_; }
  const std::string& remedy() const { return remedy_; }

 private:
  static std::string render(const std::string& what, const std::string& where, const std::string& remedy) {
    std::string text = where.empty() ? what : where + ": " + what;
    return remedy.empty() ? text : text + " (" + remedy + ")";
  }

  std::string what_, where_, remedy_;
};

/// A command line or a config that cannot be meant: exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

}
