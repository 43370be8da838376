#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "launch/graphs/log_replay.h"

namespace regraft::launch {

/// What is known of steps in order: after the first `good` of them all is well, after the first `bad` it is
/// not.
struct Bisection {
  std::size_t good = 0, bad = 0;

  /// The step that breaks it, where that was found.
  std::optional<std::size_t> culprit() const { return bad == good + 1 ? std::optional(good) : std::nullopt; }
};

/// Binary search while `goes_on` says so. Takes for granted that all is well before the first of `count`
/// steps, and not after the last.
Bisection bisect(std::size_t count, const std::function<bool(std::size_t)>& good_after,
                 const std::function<bool()>& goes_on);

/// Finds the first of `count` steps after which `good` no longer holds, by binary search. 0 is the first
/// step; nothing means that it holds after all of them. Takes for granted that one step breaks it. Throws
/// UsageError when it does not hold before the first, which is asked too.
std::optional<std::size_t> first_bad_step(std::size_t count,
                                          const std::function<bool(std::size_t)>& good_after);

/// Bisects a log for the first entry that breaks a user's own check. The shell runs `command` with the path
/// of a model, for each prefix of the log that is tried. Exit code 0 says that the model is good. Throws
/// UsageError when the model is bad before the first entry.
std::optional<std::size_t> bisect_log(const LogReplay& replay, const std::string& command);

/// Bisects a log whose model was refused, while `goes_on` says so. Nothing where no entry is to blame: the
/// model without any of them is bad, or the one that the log makes is good.
std::optional<Bisection> bisect_refused(const LogReplay& replay,
                                        const std::function<bool(const std::filesystem::path&)>& is_good,
                                        const std::function<bool()>& goes_on);

}
