#include "core/base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <array>
#include <memory>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"

namespace regraft {
namespace {

const std::vector<std::string>& level_names() {
  static const std::vector<std::string> names{"debug", "info", "warning", "error", "off"};
  return names;
}

spdlog::level::level_enum parse_level(std::string_view level) {
  constexpr std::array levels{spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                              spdlog::level::err, spdlog::level::off};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (level_names()[i] == level) return levels[i];
  }
  throw UsageError("there is no log level '" + std::string(level) + "'", "log level",
                   suggestion(level, level_names()));
}

}  // namespace

void start_log(std::string_view level, const std::string& role,
               const std::optional<std::filesystem::path>& file) {
  const auto threshold = parse_level(level);
  std::vector<spdlog::sink_ptr> sinks{std::make_shared<spdlog::sinks::stderr_sink_mt>()};
  if (file) {
    try {
      sinks.push_back(std::make_shared<spdlog::sinks::basic_file_sink_mt>(file->string()));
    } catch (const spdlog::spdlog_ex& e) {
      throw Error(e.what(), file->string(), "name a log file in a folder that can be written");
    }
  }
  auto logger = std::make_shared<spdlog::logger>(role, sinks.begin(), sinks.end());
  logger->set_level(threshold);
  logger->flush_on(spdlog::level::debug);
  logger->set_pattern(role.empty() ? "%Y-%m-%d %H:%M:%S.%e %l: %v" : "%Y-%m-%d %H:%M:%S.%e %l %n: %v");
  spdlog::set_default_logger(std::move(logger));
}

}
