#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "launch/optimise/replay_log.h"

namespace regraft::launch {

/// The first of `count` steps after which `good` no longer holds, by binary search: 0 for the first step,
/// nothing when it holds after all of them. Takes for granted that it holds before the first (asked too) and
/// that one step breaks it. Throws UsageError when it does not hold before the first.
std::optional<std::size_t> first_bad_step(std::size_t count,
                                          const std::function<bool(std::size_t)>& good_after);

/// Bisects a log for the first entry that breaks a user's own check: `command` is run by the shell with the
/// path of a model after each prefix that is tried, and says with exit code 0 that the model is good. Throws
/// UsageError when the model is bad before the first entry.
std::optional<std::size_t> bisect_log(const LogReplay& replay, const std::string& command);

}  // namespace regraft::launch
