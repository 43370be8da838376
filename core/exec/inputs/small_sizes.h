#pragma once

// Internal to core/exec: sizes of dims at which a rewrite that holds at others may fail.

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "core/exec/runtime/tensor.h"

namespace regraft::exec {

/// Absolute values, from 1 to `largest`, of the integers in a model's attributes and short integer constants,
/// ascending, once each. They say where slices begin, what is looked up, how wide windows are. Sub-graphs and
/// functions count too. Throws ExecError on what is not a model.
std::vector<std::int64_t> small_constants(const std::filesystem::path& model, std::int64_t largest);

/// Further sizes to try, all in [1, largest], the most promising first: 2, 3, 4, then the constants with
/// their neighbours, then some others.
std::vector<std::int64_t> telling_sizes(std::span<const std::int64_t> constants, std::int64_t largest);

}
