#include "launch/verify_child.h"

#include <nlohmann/json.hpp>

#include "core/base/process.h"
#include "core/exec/exec_error.h"
#include "launch/commands/commands.h"

namespace regraft::launch {

exec::EquivalenceReport verify_in_child(const std::filesystem::path& original,
                                        const std::filesystem::path& optimised,
                                        const std::vector<std::string>& bindings, std::uint64_t seed,
                                        bool bit_equal) {
  SpawnOptions spawn;
  spawn.argv = {std::filesystem::read_symlink("/proc/self/exe").string(),
                "verify",
                original.string(),
                optimised.string(),
                "--json",
                "-",
                "--seed",
                std::to_string(seed)};
  if (bit_equal) spawn.argv.push_back("--bit-equal");
  for (const std::string& binding : bindings) {
    spawn.argv.push_back("--bind");
    spawn.argv.push_back(binding);
  }
  const Captured captured = capture_output(spawn, std::chrono::hours(1));
  if (captured.timed_out || (captured.status.code != kDone && captured.status.code != kNotEquivalent))
    throw exec::ExecError("verification ended with " + captured.status.describe() + ": " + captured.errors,
                          optimised.string(), "nothing was emitted");
  const auto json = nlohmann::json::parse(captured.output, nullptr, false);
  if (json.is_discarded()) throw exec::ExecError("verification printed no report", optimised.string(), "");
  return exec::equivalence_from_json(json);
}

}  // namespace regraft::launch
