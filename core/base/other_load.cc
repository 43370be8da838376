#include "core/base/other_load.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "core/base/processors.h"
#include "core/base/resource_usage.h"

namespace regraft {
namespace {

constexpr double kStrayTicks = 3;

double ticks_per_second() {
  return static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::optional<double> others_seconds() {
  std::ifstream file("/proc/stat");
  std::ostringstream text;
  text << file.rdbuf();
  const std::optional<double> busy_s = busy_seconds(text.str(), ticks_per_second(), own_processors());
  if (!busy_s) return std::nullopt;
  rusage children{};
  ::getrusage(RUSAGE_CHILDREN, &children);
  return *busy_s - cpu_seconds() - cpu_seconds(children);
}

}  // namespace

std::optional<double> busy_seconds(std::string_view stat, double ticks, const std::vector<int>& processors) {
  std::istringstream lines{std::string(stat)};
  std::optional<double> busy_s;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0, stolen = 0;
    if (!(words >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft)) continue;
    if (std::ranges::none_of(processors, [&](int one) { return name == "cpu" + std::to_string(one); }))
      continue;
    words >> stolen;  // old systems have no such column
    busy_s = busy_s.value_or(0) + (user + nice + system + interrupts + soft + stolen) / ticks;
  }
  return busy_s;
}

OtherLoad::OtherLoad() : others_s_(others_seconds()) {}

double OtherLoad::processors() const {
  const std::optional<double> now_s = others_seconds();
  const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (!others_s_ || !now_s || elapsed_s <= 0) return 0;
  return std::max(0.0, (*now_s - *others_s_ - kStrayTicks / ticks_per_second()) / elapsed_s);
}

double disturbing_processors() {
  return std::max(0.25, 0.1 * static_cast<double>(own_processors().size()));
}

}
