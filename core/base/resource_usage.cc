#include "core/base/resource_usage.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace regraft {

std::uint64_t peak_rss_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

std::uint64_t peak_rss_bytes_with_children() {
  rusage children{};
  ::getrusage(RUSAGE_CHILDREN, &children);
  return std::max(peak_rss_bytes(), static_cast<std::uint64_t>(children.ru_maxrss) * 1024);
}

std::map<pid_t, std::uint64_t> thread_cpu_ns() {
  std::map<pid_t, std::uint64_t> all;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(thread.path() / "schedstat");  // none any more where it has ended meanwhile
    if (std::uint64_t ns = 0; file >> ns) all[std::stoi(thread.path().filename().string())] = ns;
  }
  return all;
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return cpu_seconds(usage);
}

double cpu_seconds(const rusage& usage) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}
