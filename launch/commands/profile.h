#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/exec/profile.h"

namespace regraft::launch {

/// What `regraft profile --json` writes.
nlohmann::json to_json(const exec::KernelProfile& profile);

}  // namespace regraft::launch
