#include "core/exec/latency/profile.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "launch/call/call_files.h"
#include "launch/cli/commands.h"
#include "launch/cli/feed_options.h"
#include "launch/cli/profile.h"

namespace regraft::launch {
namespace {

struct Options {
  std::filesystem::path model;
  std::optional<std::filesystem::path> json;
  FeedOptions feed;
  exec::ProfileOptions profile;
};

}  // namespace

nlohmann::json to_json(const exec::KernelProfile& profile, const exec::Feed& feed) {
  nlohmann::json ops = nlohmann::json::array();
  for (const exec::OpTime& op : profile.by_op())
    ops.push_back({{"op", op.op}, {"kernels", op.kernels}, {"time_us", op.time_us}, {"share", op.share}});
  const double ceiling = profile.ceiling();
  return {{"total_us", profile.total_us},
          {"dense_share", profile.dense_share()},
          {"ceiling", std::isfinite(ceiling) ? nlohmann::json(ceiling) : nlohmann::json(nullptr)},
          {"summary", exec::describe_ceiling(profile)},
          {"ops", std::move(ops)},
          {"dims", exec::to_json(feed)["taken"]}};
}

namespace {

int profile(Options& options) {
  CallFiles files;
  files.writes("--json", options.json);
  files.reads("MODEL", options.model);
  const exec::Feed feed = feed_of(options.model, options.feed, options.profile.seed);
  const exec::KernelProfile profile = exec::profile_model(options.model, feed, options.profile);
  const std::string text = to_json(profile, feed).dump(2) + "\n";
  if (const std::string sizes = describe_sizes(feed); !sizes.empty()) std::printf("%s\n", sizes.c_str());
  std::printf("%-32s %8s %12s %8s\n", "kernel", "count", "us", "share");
  for (const exec::OpTime& op : profile.by_op())
    std::printf("%-32s %8d %12.1f %6.1f %%\n", op.op.c_str(), op.kernels, op.time_us, op.share * 100);
  std::printf("%s\n", exec::describe_ceiling(profile).c_str());
  if (options.json) write_file_atomic(*options.json, text);
  return kDone;
}

}  // namespace

void add_profile(Command& program, Action& action) {
  auto options = std::make_shared<Options>();
  Command* command = program.add_subcommand(
      "profile", "where ONNX Runtime spends a model's time, and what that leaves to gain");
  command->add_option("MODEL", options->model, "an ONNX model, run with the runtime's best options")
      ->required();
  command->add_option("--threads", options->profile.threads, "threads inside an op")
      ->check(in_range(1, 1024))
      ->capture_default_str();
  command->add_option("--budget", options->profile.budget_s, "seconds of timed runs")
      ->check(in_range(0.1, 86400.0))
      ->capture_default_str();
  add_feed_options(*command, options->feed);
  command->add_option("--seed", options->profile.seed, "seed of the random inputs")->capture_default_str();
  command->add_option(
      "--json", options->json,
      "write the profile as JSON; - for standard output, and the table then goes to standard error");
  command->callback([options, &action] { action = [options] { return profile(*options); }; });
}

}  // namespace regraft::launch
