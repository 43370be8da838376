#include "core/exec/profile.h"
#include "actors/bindings.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/file.h"
#include "launch/call_files.h"
#include "launch/commands/commands.h"

namespace regraft::launch {
namespace {

struct Options {
  std::filesystem::path model;
  std::optional<std::filesystem::path> json;
  std::vector<std::string> bindings;
  exec::ProfileOptions profile;
};

nlohmann::json to_json(const exec::KernelProfile& profile) {
  nlohmann::json ops = nlohmann::json::array();
  for (const exec::OpTime& op : profile.by_op())
    ops.push_back({{"op", op.op}, {"kernels", op.kernels}, {"time_us", op.time_us}, {"share", op.share}});
  const double ceiling = profile.ceiling();
  return {{"total_us", profile.total_us},
          {"dense_share", profile.dense_share()},
          {"ceiling", std::isfinite(ceiling) ? nlohmann::json(ceiling) : nlohmann::json(nullptr)},
          {"summary", exec::describe_ceiling(profile)},
          {"ops", std::move(ops)}};
}

int profile(Options& options) {
  CallFiles files;
  files.writes("--json", options.json);
  files.reads("MODEL", options.model);
  exec::ProfileOptions settings = options.profile;
  settings.bound = actors::parse_bindings(options.bindings);
  const exec::KernelProfile profile = exec::profile_model(options.model, settings);
  const std::string text = to_json(profile).dump(2) + "\n";
  std::printf("%-32s %8s %12s %8s\n", "kernel", "count", "us", "share");
  for (const exec::OpTime& op : profile.by_op())
    std::printf("%-32s %8d %12.1f %6.1f %%\n", op.op.c_str(), op.kernels, op.time_us, op.share * 100);
  std::printf("%s\n", exec::describe_ceiling(profile).c_str());
  if (options.json) write_file_atomic(*options.json, text);
  return kDone;
}

}  // namespace

void add_profile(CLI::App& program, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand(
      "profile", "where ONNX Runtime spends a model's time, and what that leaves to gain");
  command->add_option("MODEL", options->model, "an ONNX model, run with the runtime's best options")
      ->required();
  command->add_option("--threads", options->profile.threads, "threads inside an op")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--budget", options->profile.budget_s, "seconds of timed runs")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  command->add_option("--bind", options->bindings, "values of dynamic dims: batch=8,seq=128")->delimiter(',');
  command->add_option("--seed", options->profile.seed, "seed of the random inputs")->capture_default_str();
  command->add_option(
      "--json", options->json,
      "write the profile as JSON; - for standard output, and the table then goes to standard error");
  command->callback([options, &action] { action = [options] { return profile(*options); }; });
}

}  // namespace regraft::launch
