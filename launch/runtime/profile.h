#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/exec/kernels/kernel_lists.h"

namespace regraft::launch {

/// What `regraft profile --json` writes of a profile at these sizes.
nlohmann::json profile_json(const exec::KernelProfile& profile, const exec::Feed& feed);
/// The same with --kernels.
nlohmann::json profile_json(const exec::KernelLists& lists, const exec::Feed& feed);

}
