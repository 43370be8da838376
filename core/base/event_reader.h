#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace regraft {

struct ScalarPoint {
  std::int64_t step = 0;
  double value = 0;
};

/// The scalar curves of all TensorBoard event files of a folder, by tag, in ascending steps. What a resume
/// rolled back is gone: the step that a younger file restarts at, or else its first one, cuts off that step
/// and all later ones of older files. A torn last record is left out; histograms and what else an event may
/// hold are passed over. Throws FileError on a folder that cannot be read and on a file with a wrong checksum
/// before its end.
std::map<std::string, std::vector<ScalarPoint>> read_scalars(const std::filesystem::path& folder);

}  // namespace regraft
