#pragma once

#include <filesystem>
#include <span>
#include <vector>

namespace regraft {

/// The numbers of the processors that this process may run on (its affinity); none where the system does not
/// tell.
std::vector<int> own_processors();

/// Physical cores that this process may run on (its affinity), at least 1.
int physical_cores();

/// The cores of these processors, by the system's folder of them (sysfs-devices-system-cpu): hardware threads
/// of one core name the same siblings. A processor of which nothing is told is a core of its own.
int count_cores(std::span<const int> processors, const std::filesystem::path& folder);

}
