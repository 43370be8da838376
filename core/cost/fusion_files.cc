#include "core/cost/fusion_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "core/base/find_config.h"

namespace regraft::cost {
namespace {

constexpr const char* kFusions = ".fusions";
constexpr std::int64_t kMinors = 1000;  // of a major version

/// "1.31.1" as 1031; nothing where it does not begin with two numbers.
std::optional<std::int64_t> ordinal(const std::string& version) {
  std::int64_t major = 0, minor = 0;
  const char* end = version.data() + version.size();
  const auto [dot, error] = std::from_chars(version.data(), end, major);
  if (error != std::errc() || dot == end || *dot != '.') return std::nullopt;
  if (std::from_chars(dot + 1, end, minor).ec != std::errc()) return std::nullopt;
  return major * kMinors + std::clamp<std::int64_t>(minor, 0, kMinors - 1);
}

/// "1.31" for RUNTIME-1.31.fusions, empty for others.
std::string version_in(const std::filesystem::path& file, const std::string& runtime) {
  const std::string name = file.stem();
  return file.extension() == kFusions && name.starts_with(runtime + "-") ? name.substr(runtime.size() + 1)
                                                                         : "";
}

}  // namespace

FusionFile find_fusions(const std::filesystem::path& folder, const std::string& runtime,
                        const std::string& version) {
  struct Candidate {
    std::int64_t distance = 0, ordinal = 0;
    FusionFile file;
  };
  const std::int64_t wanted = ordinal(version).value_or(std::numeric_limits<std::int32_t>::max());
  std::optional<Candidate> best;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
    const std::string held = version_in(entry.path(), runtime);
    const auto at = ordinal(held);
    if (!at) continue;
    const std::int64_t distance = std::abs(*at - wanted);
    if (!best || std::pair(distance, *at) < std::pair(best->distance, best->ordinal))
      best = {distance, *at, {entry.path(), held}};
  }
  if (best && best->distance == 0) return best->file;
  const std::filesystem::path of_all = runtime + kFusions;
  if (std::filesystem::exists(folder / of_all)) return {folder / of_all, ""};
  return best ? best->file : FusionFile{find_config("configs/runtimes" / of_all), ""};
}

std::string fusions_warning(const std::string& fusions_version, const std::string& runtime_version,
                            double agreed_share) {
  if (fusions_version.empty() || ordinal(fusions_version) == ordinal(runtime_version)) return "";
  std::array<char, 16> share{};
  std::snprintf(share.data(), share.size(), "%.1f %%", agreed_share * 100);
  return "warning: what version " + runtime_version + " of the runtime fuses is not known; by what " +
         fusions_version + " does, " + share.data() +
         " of this model's time is in kernels as predicted (see `regraft profile --kernels`)";
}

}
