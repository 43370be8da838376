#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "launch/graphs/log_replay.h"

namespace regraft::launch {

/// Finds the first of `count` steps after which `good` no longer holds, by binary search. 0 is the first
/// step; nothing means that it holds after all of them. Takes for granted that one step breaks it. Throws
/// UsageError when it does not hold before the first, which is asked too.
std::optional<std::size_t> first_bad_step(std::size_t count,
                                          const std::function<bool(std::size_t)>& good_after);

/// Bisects a log for the first entry that breaks a user's own check. The shell runs `command` with the path
/// of a model, for each prefix of the log that is tried. Exit code 0 says that the model is good. Throws
/// UsageError when the model is bad before the first entry.
std::optional<std::size_t> bisect_log(const LogReplay& replay, const std::string& command);

}
