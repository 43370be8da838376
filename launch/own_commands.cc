#include "launch/own_commands.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/process.h"
#include "core/exec/exec_error.h"
#include "launch/commands/commands.h"

namespace regraft::launch {
namespace {

/// Runs this program with the arguments and reads the JSON that it prints. `subject` is what errors name.
nlohmann::json run_for_json(std::vector<std::string> arguments, const std::vector<std::string>& bindings,
                            const std::vector<int>& good_codes, const std::filesystem::path& subject) {
  SpawnOptions spawn;
  spawn.argv = {std::filesystem::read_symlink("/proc/self/exe").string()};
  std::ranges::move(arguments, std::back_inserter(spawn.argv));
  for (const std::string& binding : bindings) {
    spawn.argv.push_back("--bind");
    spawn.argv.push_back(binding);
  }
  const Captured captured = capture_output(spawn, std::chrono::hours(1));
  const std::string& command = spawn.argv[1];
  if (captured.timed_out || std::ranges::find(good_codes, captured.status.code) == good_codes.end())
    throw exec::ExecError(
        "regraft " + command + " ended with " + captured.status.describe() + ": " + captured.errors,
        subject.string(), "nothing was emitted");
  nlohmann::json json = nlohmann::json::parse(captured.output, nullptr, false);
  if (json.is_discarded())
    throw exec::ExecError("regraft " + command + " printed no report", subject.string(), "");
  return json;
}

}  // namespace

exec::EquivalenceReport verify_in_child(const std::filesystem::path& original,
                                        const std::filesystem::path& optimised, const ChildCheck& check) {
  std::vector<std::string> arguments{"verify", original.string(), optimised.string(),        "--json",
                                     "-",      "--seed",          std::to_string(check.seed)};
  if (check.bit_equal) arguments.emplace_back("--bit-equal");
  if (check.finite) arguments.emplace_back("--finite");
  return exec::equivalence_from_json(
      run_for_json(std::move(arguments), check.bindings, {kDone, kNotEquivalent}, optimised));
}

double ProfileSummary::ceiling() const {
  return dense_share > 0 ? 1 / dense_share : std::numeric_limits<double>::infinity();
}

ProfileSummary profile_in_child(const std::filesystem::path& model, const std::vector<std::string>& bindings,
                                int threads, std::uint64_t seed) {
  const nlohmann::json json = run_for_json({"profile", model.string(), "--json", "-", "--threads",
                                            std::to_string(threads), "--seed", std::to_string(seed)},
                                           bindings, {kDone}, model);
  return {json.at("dense_share"), json.at("summary")};
}

}  // namespace regraft::launch
