#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace regraft::launch {

/// Known choices only, with the nearest one for others. Help and completion show them by its description.
CLI::Validator one_of(std::vector<std::string> choices);

/// The choices of an option that was checked by one_of; none for others.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace regraft::launch
