#include "core/base/json_text.h"
#include "core/exec/latency/kernel_profile.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/atomic_file.h"
#include "core/base/counted.h"
#include "core/base/file.h"
#include "core/exec/kernels/kernel_lists.h"
#include "core/exec/runtime/ort_session.h"
#include "launch/call/call_files.h"
#include "launch/call/runtimes.h"
#include "launch/command/add_feed_options.h"
#include "launch/command/choices.h"
#include "launch/command/threads_option.h"
#include "launch/runtime/commands.h"
#include "launch/runtime/profile.h"

namespace regraft::launch {
namespace {

struct ProfileArguments {
  std::filesystem::path model;
  std::optional<std::filesystem::path> json;
  FeedOptions feed;
  exec::ProfileOptions profile;
  std::filesystem::path device;
  std::string runtime = Runtime::kDefault;
};

/// "conv_1  Conv blocked float  12.3 14.0": a predicted kernel, and what was launched for it.
void print_row(const std::string& value, const std::string& predicted, double predicted_us,
               const std::string& launched, double launched_us) {
  constexpr std::size_t kWidth = 36;
  const std::string end = value.size() > kWidth ? "..." + value.substr(value.size() - kWidth + 3) : value;
  std::printf("%-36s %-34s %10.1f  %-24s %10.1f\n", end.c_str(), predicted.c_str(), predicted_us,
              launched.c_str(), launched_us);
}

/// The two lists side by side, in the order of the prediction; what only one of them has says so.
void print_kernels(const exec::KernelLists& lists) {
  std::printf("%-36s %-34s %10s  %-24s %10s\n", "value", "predicted kernel", "us", "launched kernel", "us");
  for (const exec::ComparedKernel& one : lists.compared) {
    std::string launched;
    for (const std::size_t at : one.launched)
      launched += (launched.empty() ? "" : " + ") + lists.profile.kernels[at].op;
    print_row(one.value, one.predicted.features.kernel_kind(), one.predicted.us,
              launched.empty() ? "-" : launched, one.launched_us);
  }
  int views = 0;
  double views_us = 0;
  for (const std::size_t at : lists.unexpected) {
    const exec::KernelTime& kernel = lists.profile.kernels[at];
    if (exec::is_view(kernel)) {
      ++views;
      views_us += kernel.time_us;
    } else {
      print_row(kernel.outputs.empty() ? kernel.node : kernel.outputs[0], "-", 0, kernel.op, kernel.time_us);
    }
  }
  if (views > 0) std::printf("and %d reshapes of the runtime's own, %.1f us\n", views, views_us);
  std::printf(
      "predicted %.1f us, corrected by these kernels %.1f us, a run takes %.1f us; %.1f %% of it in kernels "
      "that both "
      "lists have\n",
      lists.predicted_us(), lists.corrected_us, lists.profile.run_us, lists.agreed_share() * 100);
}

}  // namespace

nlohmann::json profile_json(const exec::KernelLists& lists, const exec::Feed& feed) {
  nlohmann::json json = profile_json(lists.profile, feed);
  nlohmann::json& kernels = json["kernels"] = nlohmann::json::array();
  for (const exec::ComparedKernel& one : lists.compared) {
    nlohmann::json launched = nlohmann::json::array();
    for (const std::size_t at : one.launched) launched.push_back(lists.profile.kernels[at].op);
    kernels.push_back({{"value", one.value},
                       {"predicted", one.predicted.features.kernel_kind()},
                       {"predicted_us", one.predicted.us},
                       {"launched", std::move(launched)},
                       {"launched_us", one.launched_us}});
  }
  nlohmann::json& unexpected = json["unexpected"] = nlohmann::json::array();
  for (const std::size_t at : lists.unexpected)
    unexpected.push_back(
        {{"launched", lists.profile.kernels[at].op}, {"launched_us", lists.profile.kernels[at].time_us}});
  nlohmann::json& runs = json["graph_runs"] = nlohmann::json::array();
  for (const std::optional<double>& one : lists.graph_runs)
    runs.push_back(one ? nlohmann::json(*one) : nlohmann::json(nullptr));
  json["infers_symbols"] = lists.infers_symbols;
  json["predicted_us"] = lists.predicted_us();
  json["corrected_us"] = lists.corrected_us;
  json["run_us"] = lists.profile.run_us;
  json["agreed_share"] = lists.agreed_share();
  json["samples"] = exec::to_json(lists.samples());
  return json;
}

nlohmann::json profile_json(const exec::KernelProfile& profile, const exec::Feed& feed) {
  nlohmann::json ops = nlohmann::json::array();
  for (const exec::OpTime& op : profile.by_op())
    ops.push_back({{"op", op.op}, {"kernels", op.kernels}, {"time_us", op.time_us}, {"share", op.share}});
  const double ceiling = profile.ceiling();
  return {{"threads", profile.threads},
          {"total_us", profile.total_us},
          {"other_load", profile.other_load},
          {"disturbed", profile.disturbed},
          {"dense_share", profile.dense_share()},
          {"ceiling", std::isfinite(ceiling) ? nlohmann::json(ceiling) : nlohmann::json(nullptr)},
          {"summary", exec::describe_ceiling(profile)},
          {"ops", std::move(ops)},
          {"dims", exec::to_json(feed)["taken"]}};
}

namespace {

int profile(ProfileArguments& options) {
  CallFiles files;
  files.writes("--json", options.json);
  files.reads("MODEL", options.model);
  options.profile.threads = exec::session_threads(options.profile.threads);
  const exec::Feed feed = feed_of(options.model, options.feed, options.profile.seed);
  const Runtime runtime(options.runtime);
  std::string text;
  exec::KernelLists lists;
  lists.profile = runtime.profile(options.model, feed, options.profile);
  if (options.profile.kernels) {
    const cost::DeviceProfile device = runtime.device(rates_for(options.runtime, options.device));
    lists = exec::compare_profile(options.model, feed, device, std::move(lists.profile));
    text = json_text(profile_json(lists, feed), 2) + "\n";
  } else {
    text = json_text(profile_json(lists.profile, feed), 2) + "\n";
  }
  const exec::KernelProfile& profile = lists.profile;
  if (const std::string sizes = describe_sizes(feed); !sizes.empty()) std::printf("%s\n", sizes.c_str());
  std::printf("%-32s %8s %12s %8s\n", "kernel", "count", "us", "share");
  for (const exec::OpTime& op : profile.by_op())
    std::printf("%-32s %8d %12.1f %6.1f %%\n", op.op.c_str(), op.kernels, op.time_us, op.share * 100);
  std::printf("%s; %s\n", exec::describe_ceiling(profile).c_str(),
              counted(profile.threads, "thread").c_str());
  if (profile.disturbed)
    std::printf(
        "other work kept %.1f processors busy meanwhile: on an idle machine the times may be others\n",
        profile.other_load);
  if (options.profile.kernels) print_kernels(lists);
  if (options.json) write_file_atomic(*options.json, text);
  return kDone;
}

}  // namespace

void add_profile(Command& program, Action& action) {
  auto options = std::make_shared<ProfileArguments>();
  Command* command = program.add_subcommand(
      "profile", "where a runtime spends a model's time, and what that leaves to gain");
  command->add_option("MODEL", options->model, "an ONNX model, run with the runtime's best options")
      ->required();
  add_threads_option(*command, options->profile.threads);
  command
      ->add_option("--runtime", options->runtime,
                   "the runtime, or FILE.py, an adapter that has kernels; in LibTorch (torch-cpu, "
                   "torch-cuda) each node is timed alone")
      ->check(known_runtime(profiled_runtimes()))
      ->capture_default_str();
  command->add_option("--budget", options->profile.budget_s, "seconds of timed runs")
      ->check(in_range(0.1, 86400.0))
      ->capture_default_str();
  command->add_flag(
      "--kernels", options->profile.kernels,
      "also list the kernels that the cost model predicts beside those that the runtime launched");
  command->add_option("--device", options->device,
                      "device profile of the cost model, with --kernels (default: "
                      "configs/devices/cpu-1core.toml; for a GPU h200.toml)");
  add_feed_options(*command, options->feed);
  command->add_option("--seed", options->profile.seed, "seed of the random inputs")->capture_default_str();
  command->add_option(
      "--json", options->json,
      "write the profile as JSON; - for standard output, and the table then goes to standard error");
  command->callback([options, &action] { action = [options] { return profile(*options); }; });
}

}
