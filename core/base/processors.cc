#include "core/base/processors.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

namespace regraft {

int count_cores(std::span<const int> processors, const std::filesystem::path& folder) {
  std::set<std::string> cores;
  for (const int processor : processors) {
    const std::string name = "cpu" + std::to_string(processor);
    std::ifstream file(folder / name / "topology/thread_siblings_list");
    std::string siblings;
    cores.insert(std::getline(file, siblings) ? siblings : name);
  }
  return static_cast<int>(cores.size());
}

std::vector<int> own_processors() {
  cpu_set_t allowed;
  std::vector<int> processors;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(static_cast<std::size_t>(i), &allowed)) processors.push_back(i);
  return processors;
}

int physical_cores() {
  return std::max(1, count_cores(own_processors(), "/sys/devices/system/cpu"));
}

}
