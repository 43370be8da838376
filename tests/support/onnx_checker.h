#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/process.h"

namespace regraft::testing {

/// What ONNX's own full check says of each of these models, "" of those that pass: one Python for all.
/// Nothing where Python has no ONNX in `prefix`, to which launch/setup.sh fetches it.
inline std::optional<std::vector<std::string>> onnx_complaints(
    const std::filesystem::path& prefix, const std::vector<std::filesystem::path>& models) {
  constexpr int kMissing = 77;
  constexpr const char* kChecker = R"(
import sys
try:
    import onnx
except ImportError:
    sys.exit(77)
for path in sys.argv[1:]:
    try:
        onnx.checker.check_model(path, full_check=True)
        print()
    except Exception as error:
        print(str(error).strip().splitlines()[0])
)";
  SpawnOptions spawn{.argv = {"/usr/bin/python3", "-c", kChecker},
                     .environment = {{"PYTHONPATH", prefix.string()}}};
  spawn.argv.insert(spawn.argv.end(), models.begin(), models.end());
  const Captured checked = capture_output(spawn);
  if (checked.status.code == kMissing) return std::nullopt;
  std::vector<std::string> complaints;
  for (std::size_t begin = 0, end; (end = checked.output.find('\n', begin)) != std::string::npos;
       begin = end + 1)
    complaints.push_back(checked.output.substr(begin, end - begin));
  if (complaints.size() != models.size())
    throw Error("the check ended early: " + checked.errors, "ONNX's checker", "run it by hand");
  return complaints;
}

}
