#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace regraft::onnx {

/// Removes the data files that earlier exports to `path` made, except for those `kept` (file names) and those
/// that another model names.
void remove_stale_data(const std::filesystem::path& path, std::span<const std::string> kept);

/// Whether a model other than `owner` names this data file: one in the file's own folder or in the one above.
/// A file that cannot be read may be such a model.
bool is_named_beside(const std::filesystem::path& data, const std::filesystem::path& owner);

}
