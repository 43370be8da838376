#pragma once

#include <map>
#include <string>
#include <vector>

#include "launch/command/command.h"

namespace regraft::launch {

/// Known choices only, with the nearest one for others, and the present name for a `former` one. Help and
/// completion show the choices by its description.
Check one_of(std::vector<std::string> choices, std::map<std::string, std::string> former = {});

/// A runtime of one of these names (launch/call/runtimes.h), or the path of an adapter.
Check known_runtime(std::vector<std::string> names);
/// Several of these, with commas between.
Check known_runtimes(std::vector<std::string> names);

/// The choices of an option that was checked by one_of, of its type as CLI11 writes it; none for others.
std::vector<std::string> choices_of(const std::string& type);

}
