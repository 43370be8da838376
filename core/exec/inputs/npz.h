#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/exec/runtime/tensor.h"

namespace regraft::exec {

/// The tensors of a NumPy archive (.npz, stored or compressed) by name. Little-endian arrays in C order of
/// booleans, integers and floats. Throws ExecError.
std::map<std::string, Tensor> read_npz(const std::filesystem::path& path);

}  // namespace regraft::exec
