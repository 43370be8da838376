#include "core/base/other_load.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "core/base/process.h"

namespace regraft {
namespace {

std::optional<double> others_seconds() {
  std::ifstream file("/proc/stat");
  std::string line;
  std::getline(file, line);
  const std::optional<double> busy_s = busy_seconds(line, static_cast<double>(sysconf(_SC_CLK_TCK)));
  if (!busy_s) return std::nullopt;
  return *busy_s - cpu_seconds();
}

}  // namespace

std::optional<double> busy_seconds(std::string_view stat, double ticks) {
  std::istringstream words{std::string(stat)};
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0, stolen = 0;
  if (!(words >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft) || name != "cpu")
    return std::nullopt;
  words >> stolen;  // old systems have no such column
  return (user + nice + system + interrupts + soft + stolen) / ticks;
}

OtherLoad::OtherLoad() : others_s_(others_seconds()) {}

double OtherLoad::processors() const {
  const std::optional<double> now_s = others_seconds();
  const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (!others_s_ || !now_s || elapsed_s <= 0) return 0;
  return std::max(0.0, (*now_s - *others_s_) / elapsed_s);
}

double disturbing_processors() {
  return std::max(0.25, 0.1 * std::thread::hardware_concurrency());
}

}  // namespace regraft
