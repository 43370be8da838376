#pragma once

#include <CLI/CLI.hpp>

namespace regraft::launch {

/// Makes every option of a program and of its commands that takes a number refuse what none of them can mean:
/// negative numbers, NaN, infinities, and whole numbers above what 64 bits hold. CLI11 takes -1 for the
/// largest unsigned number, and lets NaN through every range. To be called once all options are declared.
void check_numbers(CLI::App& program);

}  // namespace regraft::launch
