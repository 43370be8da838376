#include "launch/call/subprocess_checks.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/atomic_file.h"
#include "core/base/child_error.h"
#include "core/base/json_text.h"
#include "core/exec/kernels/kernel_lists.h"
#include "core/exec/latency/launcher.h"
#include "launch/call/exit_code.h"

namespace regraft::launch {
namespace {

/// A path that is no option, whatever its name.
std::string as_argument(const std::filesystem::path& path) {
  return path.string().starts_with('-') ? "./" + path.string() : path.string();
}

/// Runs this program with the arguments and reads the JSON that it prints. `subject` is the model that it is
/// about, which errors need not name again.
nlohmann::json run_for_json(std::vector<std::string> arguments, const std::vector<int>& good_codes,
                            const std::filesystem::path& subject) {
  SpawnOptions spawn;
  spawn.own_group = true;  // a terminal's Ctrl-C ends the parent, and that ends this one
  spawn.argv = {exec::runtime_program().string()};
  std::ranges::move(arguments, std::back_inserter(spawn.argv));
  const Captured captured = capture_output(spawn, std::chrono::hours(1));
  const std::string command = "regraft " + spawn.argv[1];
  if (captured.timed_out || std::ranges::find(good_codes, captured.status.code) == good_codes.end()) {
    std::string said = child_error(captured, command);
    if (const std::string name = as_argument(subject) + ": "; said.starts_with(name))
      said.erase(0, name.size());
    constexpr std::array crashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGKILL};  // the last: no memory
    if (!captured.timed_out && std::ranges::find(crashes, captured.status.signal) != crashes.end())
      throw CrashError(std::move(said), "", "nothing was emitted");
    throw exec::ExecError(std::move(said), "", "nothing was emitted");
  }
  nlohmann::json json = nlohmann::json::parse(captured.output, nullptr, false);
  if (json.is_discarded()) throw exec::ExecError(command + " printed no report", subject.string(), "");
  return json;
}

}  // namespace

exec::EquivalenceReport verify_in_child(const std::filesystem::path& original,
                                        const std::filesystem::path& optimised, const ChildCheck& check) {
  std::vector<std::string> arguments{"verify",
                                     as_argument(original),
                                     as_argument(optimised),
                                     "--json",
                                     "-",
                                     "--seed",
                                     std::to_string(check.seed),
                                     "--feed",
                                     check.feed.string()};
  if (check.bit_equal) arguments.emplace_back("--bit-equal");
  if (check.finite) arguments.emplace_back("--finite");
  if (check.nonempty) arguments.emplace_back("--nonempty");
  if (check.session) arguments.insert(arguments.end(), {"--session", check.session->string()});
  if (check.probe_s) arguments.insert(arguments.end(), {"--probe-seconds", std::to_string(*check.probe_s)});
  if (check.verdict_only) arguments.emplace_back("--verdict-only");
  for (const std::string& fixed : check.fixed) arguments.insert(arguments.end(), {"--fix", fixed});
  return exec::equivalence_from_json(run_for_json(std::move(arguments), {kDone, kNotEquivalent}, optimised));
}

double ProfileSummary::ceiling() const {
  return dense_share > 0 ? 1 / dense_share : std::numeric_limits<double>::infinity();
}

ProfileSummary profile_in_child(const std::filesystem::path& model, const std::filesystem::path& feed,
                                const std::filesystem::path& device, int threads, std::uint64_t seed,
                                const std::string& runtime) {
  const nlohmann::json json =
      run_for_json({"profile", as_argument(model), "--kernels", "--runtime", runtime, "--device",
                    device.string(), "--json", "-", "--threads", std::to_string(threads), "--seed",
                    std::to_string(seed), "--feed", feed.string()},
                   {kDone}, model);
  std::vector<std::optional<double>> graph_runs;
  for (const nlohmann::json& runs : json.at("graph_runs"))
    graph_runs.push_back(runs.is_null() ? std::nullopt : std::optional(runs.get<double>()));
  return {json.at("dense_share"), json.at("summary"),        json.at("predicted_us"),
          json.at("run_us"),      json.at("agreed_share"),   exec::samples_from_json(json.at("samples")),
          std::move(graph_runs),  json.at("infers_symbols"), json.at("other_load"),
          json.at("disturbed")};
}

exec::Feed feed_in_child(const std::filesystem::path& model, const FeedOptions& options, std::uint64_t seed) {
  std::vector<std::string> arguments{"find-feed", as_argument(model), "--seed", std::to_string(seed)};
  for (const std::string& binding : options.bindings) arguments.insert(arguments.end(), {"--bind", binding});
  if (options.foreign) arguments.emplace_back("--foreign");
  for (const auto& input : options.inputs)
    arguments.insert(arguments.end(), {"--inputs", as_argument(input)});
  nlohmann::json json;
  try {
    json = run_for_json(std::move(arguments), {kDone}, model);
  } catch (const exec::ExecError& error) {  // the runtime crashed, or did not end
    exec::Feed feed;
    feed.problem = error.problem();
    feed.remedy = "give smaller sizes with --bind or inputs with --inputs, or export the model again";
    return feed;
  }
  if (json.contains("feed")) return exec::feed_from_json(json["feed"]);
  const nlohmann::json& error = json.at("error");
  if (error.at("usage")) throw UsageError(error.at("problem"), error.at("where"), error.at("remedy"));
  throw exec::ExecError(error.at("problem").get<std::string>(), error.at("where").get<std::string>(),
                        error.at("remedy").get<std::string>());
}

FeedFile::FeedFile(const exec::Feed& feed) : path_(folder_.path() / "feed.json") {
  write_file_atomic(path_, json_text(exec::to_json(feed)));
}

}
