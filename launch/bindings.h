#pragma once

#include <string>
#include <vector>

#include "core/exec/tensor.h"

namespace regraft::launch {

/// "batch=8" each. Throws UsageError.
exec::SymbolSizes parse_bindings(const std::vector<std::string>& texts);

}  // namespace regraft::launch
