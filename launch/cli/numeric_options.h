#pragma once

#include <CLI/CLI.hpp>

namespace regraft::launch {

/// Makes every numeric option of a program and its commands refuse NaN, infinities, negative numbers where
/// none make sense, and whole numbers beyond 64 bits. CLI11 takes -1 for the largest unsigned number, and
/// lets NaN through every range. To be called once all options are declared.
void check_numbers(CLI::App& program);

}  // namespace regraft::launch
