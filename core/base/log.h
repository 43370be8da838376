#pragma once

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace regraft {

/// Sets up the process's log: plain lines "2026-01-31 12:34:56.789 warning actor-3: text" on standard error,
/// from `level` up, and into `file` too when one is given (appended, each line flushed). Until it is called,
/// spdlog's own defaults hold. `level` is one of debug, info, warning, error, off; another one throws
/// UsageError with the nearest. Call once, before other threads log; the log functions below may be called
/// from any thread.
void start_log(std::string_view level, const std::string& role,
               const std::optional<std::filesystem::path>& file = std::nullopt);

template <typename... Args>
void log_debug(fmt::format_string<Args...> text, Args&&... args) {
  spdlog::debug(text, std::forward<Args>(args)...);
}

template <typename... Args>
void log_info(fmt::format_string<Args...> text, Args&&... args) {
  spdlog::info(text, std::forward<Args>(args)...);
}

template <typename... Args>
void log_warning(fmt::format_string<Args...> text, Args&&... args) {
  spdlog::warn(text, std::forward<Args>(args)...);
}

template <typename... Args>
void log_error(fmt::format_string<Args...> text, Args&&... args) {
  spdlog::error(text, std::forward<Args>(args)...);
}

}
