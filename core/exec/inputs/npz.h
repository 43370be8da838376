#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/exec/runtime/tensor.h"

namespace regraft::exec {

/// The tensors of a NumPy archive (.npz, stored or compressed) by name. Little-endian arrays in C order of
/// booleans, integers and floats. Throws ExecError.
std::map<std::string, Tensor> read_npz(const std::filesystem::path& path);

/// The tensors as numpy.savez writes arrays without names: arr_0, arr_1... Throws ExecError for tensors that
/// are none of such elements.
void write_npz(const std::filesystem::path& path, const std::vector<Tensor>& tensors);

}
