#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace regraft::launch {

/// Known choices only, with the nearest one for others, and the present name for a former one (former name,
/// present name). Help and completion show them by its description.
CLI::Validator one_of(std::vector<std::string> choices, std::map<std::string, std::string> former = {});

/// The choices of an option that was checked by one_of; none for others.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace regraft::launch
