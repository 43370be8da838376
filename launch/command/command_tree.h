#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "launch/command/command.h"

namespace regraft::launch {

/// One option or argument of a command, as it was declared.
struct OptionInfo {
  std::vector<std::string> names{};  // "-o", "--output"; of an argument its name alone: "IN"
  std::string help{};
  std::string type{};  // of its values: "text", "number", "integer"; "flag" where it takes none
  std::vector<std::string> choices{};  // the only values that it takes; empty: any
  std::string preset{};                // what holds where it is not given; may be empty
  bool argument = false;               // given by its place
  bool repeats = false;
  bool required = false;
};

/// One command with those below it.
struct CommandInfo {
  std::vector<std::string> names{};  // aliases after the first
  std::string help{};
  std::vector<OptionInfo> options{};
  std::vector<CommandInfo> commands{};
};

/// What the program's declarations say: what completion, the Python package and its type stub are made of.
/// Commands that are not for people are left out.
CommandInfo describe(const Command& program);

nlohmann::json to_json(const CommandInfo& command);

}
