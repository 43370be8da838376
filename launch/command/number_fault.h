#pragma once

#include <string>

namespace regraft::launch {

/// Why no option that takes a number can mean this text; empty: it can, or is no number at all, which CLI11
/// refuses. Refused are negative numbers, NaN, infinities, and whole numbers above what 64 bits hold. CLI11
/// takes -1 for the largest unsigned number, and lets NaN through every range. `type` is the option's, as
/// CLI11 writes it: "FLOAT:FLOAT in [1 - 60]", "UINT", "TEXT".
std::string number_fault(const std::string& text, const std::string& type);

}
