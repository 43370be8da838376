#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "core/exec/equivalence.h"

namespace regraft::launch {

/// check_equivalence in a process of its own, so that two models' memory and any crash of the runtime stay
/// out of this one. Throws ExecError when the process fails.
exec::EquivalenceReport verify_in_child(const std::filesystem::path& original,
                                        const std::filesystem::path& optimised,
                                        const std::vector<std::string>& bindings, std::uint64_t seed,
                                        bool bit_equal);

}  // namespace regraft::launch
