#pragma once

#include "core/base/error.h"

namespace regraft::launch {

/// How what ended the program is printed on standard error: as text for people; or, for a program that runs
/// this one with REGRAFT_ERRORS=json (launch/python does), as one line {"what", "where", "remedy"}.
class ErrorPrinter {
 public:
  /// Takes the variable out of the environment: our own processes print text, which their parent hands on.
  static ErrorPrinter from_environment();

  void print(const Error& error) const;

 private:
  explicit ErrorPrinter(bool json) : json_(json) {}

  bool json_;
};

}  // namespace regraft::launch
