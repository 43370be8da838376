#include "core/env/action.h"

namespace regraft::env {

std::string_view describe(Invalid invalid) {
  switch (invalid) {
    case Invalid::none:
      return "valid";
    case Invalid::no_such_rule:
      return "there is no such rule";
    case Invalid::no_such_location:
      return "the rule has no such location";
    case Invalid::refused:
      return "the rewriter refused the match";
  }
  return "unknown";
}

}
