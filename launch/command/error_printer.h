#pragma once

#include "core/base/error.h"

namespace regraft::launch {

/// Prints the error that ended the program on standard error. It is text for people, or one line {"what",
/// "where", "remedy"} for a program that sets REGRAFT_ERRORS=json, as launch/python does.
class ErrorPrinter {
 public:
  /// Takes the variable out of the environment: our own processes print text, which their parent hands on.
  static ErrorPrinter from_environment();

  void print(const Error& error) const;

 private:
  explicit ErrorPrinter(bool json) : json_(json) {}

  bool json_;
};

}
