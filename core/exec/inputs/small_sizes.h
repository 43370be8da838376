#pragma once

// Internal to core/exec: sizes of dims at which a rewrite that holds at others may fail.

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "core/exec/runtime/tensor.h"

namespace regraft::exec {

/// Absolute values, from 1 to `largest`, of the integers in a model's attributes and short integer
/// constants, ascending, once each: where its slices begin, what it looks up, how wide its windows are. Of
/// sub-graphs and functions too. Throws ExecError on what is not a model.
std::vector<std::int64_t> small_constants(const std::filesystem::path& model, std::int64_t largest);

/// Sizes at which to look beside those given, in the order of their promise, all in [1, largest]: 2, 3, 4,
/// then the constants with their neighbours, then some others.
std::vector<std::int64_t> telling_sizes(std::span<const std::int64_t> constants, std::int64_t largest);

}  // namespace regraft::exec
