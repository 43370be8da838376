#pragma once

#include <string>

#include "core/base/process.h"

namespace regraft {

/// What a child that is this program said at its end, without the program's name; how it ended where it said
/// nothing or was killed. `command` is what it was to do.
std::string child_error(const Captured& child, const std::string& command);

}
