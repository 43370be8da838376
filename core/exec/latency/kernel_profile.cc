#include "core/exec/latency/kernel_profile.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/stats.h"
#include "core/exec/inputs/inputs.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/runtime/model_skeleton.h"
#include "core/exec/runtime/ort_session.h"

namespace regraft::exec {
namespace {

constexpr std::string_view kKernelSuffix = "_kernel_time";
constexpr int kLeastProfiles = 3;
constexpr int kMostProfiles = 100;
constexpr std::uintmax_t kMostRewrittenBytes = std::uintmax_t{1}
                                               << 30;  // larger models are not written again
constexpr double kRunQuantile = 0.1;
constexpr int kMostTries = 3;              // on a busy machine
constexpr std::int64_t kRetrySeconds = 5;  // once they are over, no other try begins

constexpr std::array<std::string_view, 3> kControlFlow{"If", "Loop", "Scan"};
constexpr std::array<std::string_view, 9> kDenseStems{"Gemm",         "MatMul", "Conv",      "LSTM",
                                                      "GRU",          "RNN",    "Attention", "FullyConnected",
                                                      "Deconvolution"};  // the last two: OpenVINO's

/// [{"float": [1, 768]}, ...] as {"float[1,768]", ...}.
std::vector<std::string> type_texts(const nlohmann::json& args, const char* key) {
  std::vector<std::string> texts;
  if (!args.contains(key)) return texts;
  for (const auto& operand : args.at(key)) {
    for (const auto& [dtype, dims] : operand.items()) texts.push_back(dtype + dims.dump());
  }
  return texts;
}

bool is_run(const nlohmann::json& event) {
  return event.value("cat", "") == "Session" && event.value("name", "") == "model_run";
}

bool is_kernel(const nlohmann::json& event) {
  if (event.value("cat", "") != "Node") return false;
  const std::string name = event.value("name", "");
  return name.ends_with(kKernelSuffix) &&
         std::ranges::find(kControlFlow, event.at("args").value("op_name", "")) == kControlFlow.end();
}

std::string percent(double share) {
  std::array<char, 32> buffer;
  std::snprintf(buffer.data(), buffer.size(), "%.1f %%", share * 100);
  return buffer.data();
}

}  // namespace

bool is_dense_kernel(const std::string& op) {
  return std::ranges::any_of(kDenseStems,
                             [&](std::string_view stem) { return op.find(stem) != std::string::npos; });
}

std::vector<OpTime> KernelProfile::by_op() const {
  std::map<std::string, OpTime> sums;
  for (const KernelTime& kernel : kernels) {
    OpTime& sum = sums[kernel.op];
    sum.op = kernel.op;
    ++sum.kernels;
    sum.time_us += kernel.time_us;
  }
  std::vector<OpTime> ops;
  for (auto& [name, sum] : sums) {
    sum.share = total_us > 0 ? sum.time_us / total_us : 0;
    ops.push_back(sum);
  }
  std::ranges::sort(ops, [](const OpTime& a, const OpTime& b) { return a.time_us > b.time_us; });
  return ops;
}

double KernelProfile::dense_share() const {
  double dense_us = 0;
  for (const KernelTime& kernel : kernels) dense_us += is_dense_kernel(kernel.op) ? kernel.time_us : 0;
  return total_us > 0 ? dense_us / total_us : 0;
}

double KernelProfile::ceiling() const {
  const double share = dense_share();
  return share > 0 ? 1 / share : std::numeric_limits<double>::infinity();
}

namespace {

/// Times of kernels, as their events are read.
class KernelEvents {
 public:
  void add(const nlohmann::json& event) {
    if (is_run(event)) ++runs_;
    if (!is_kernel(event)) return;
    const std::string name = event.at("name");
    const auto [at, fresh] = position_.try_emplace(name, times_.size());
    if (fresh) {
      const auto& args = event.at("args");
      times_.emplace_back();
      kernels_.push_back({name.substr(0, name.size() - kKernelSuffix.size()), args.at("op_name"),
                          type_texts(args, "input_type_shape"), 0});
    }
    times_[at->second].push_back(event.at("dur"));
  }

  KernelProfile profile(int skip_runs) const {
    KernelProfile profile;
    profile.kernels = kernels_;
    for (std::size_t i = 0; i < times_.size(); ++i) {
      KernelTime& kernel = profile.kernels[i];
      const double executed = static_cast<double>(times_[i].size());
      kernel.executions = executed / std::max(1, runs_);
      const double skipped = std::min(std::floor(skip_runs * kernel.executions), executed - 1);
      kernel.time_us =
          kernel.executions * interquartile_mean({times_[i].begin() + std::lround(skipped), times_[i].end()});
      profile.total_us += kernel.time_us;
    }
    return profile;
  }

 private:
  std::vector<KernelTime> kernels_;
  std::vector<std::vector<double>> times_;
  int runs_ = 0;
  std::unordered_map<std::string, std::size_t> position_;
};

}  // namespace

KernelProfile parse_profile(std::istream& events, int skip_runs) {
  using nlohmann::json;
  KernelEvents kernels;
  const auto keep = [&](int depth, json::parse_event_t read, json& event) {
    if (depth != 1 || read != json::parse_event_t::object_end) return true;
    kernels.add(event);
    return false;
  };
  std::string problem = "no list";
  try {
    if (json::parse(events, keep).is_array()) return kernels.profile(skip_runs);
  } catch (const json::exception& error) {
    problem = error.what();
  }
  throw ExecError("ONNX Runtime wrote no readable profile: " + problem, "profile",
                  "check the free disk space");
}

namespace {

/// The runtime keeps an event for each node of each run: of graphs of many nodes few runs tell enough.
int most_runs(const std::filesystem::path& model) {
  constexpr int kManyEvents = 100'000;  // some 200 MB
  int nodes = 0;
  ::onnx::GraphProto graph = read_skeleton(model);
  for_each_node(graph, [&](const ::onnx::NodeProto&) { ++nodes; });
  return std::clamp(kManyEvents / std::max(1, nodes), kLeastProfiles, kMostProfiles);
}

/// The runtime names each kernel by the node of its rewritten model. Behind a product it puts a Reshape,
/// which alone makes a value that the model has.
void name_outputs(::onnx::GraphProto rewritten, KernelProfile& profile) {
  std::unordered_map<std::string, const ::onnx::NodeProto*> nodes, readers;
  const auto add = [](auto& map, const std::string& key, const ::onnx::NodeProto& node) {
    if (const auto [at, fresh] = map.emplace(key, &node); !fresh) at->second = nullptr;  // not the only one
  };
  for_each_node(rewritten, [&](const ::onnx::NodeProto& node) {
    add(nodes, node.name(), node);
    for (const std::string& input : node.input()) add(readers, input, node);
  });
  for (KernelTime& kernel : profile.kernels) {
    const auto found = nodes.find(kernel.node);
    if (found == nodes.end() || !found->second) continue;
    kernel.outputs.assign(found->second->output().begin(), found->second->output().end());
    const auto reader = readers.find(found->second->output(0));
    if (reader != readers.end() && reader->second && reader->second->op_type() == "Reshape")
      kernel.reshaped = reader->second->output(0);
  }
}

/// The model with a name of its own for each node, by which the runtime calls its kernel; empty where all
/// have one, or where it is too large to be held in memory again.
std::string with_names(const std::filesystem::path& model) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{256} << 20;
  if (std::filesystem::file_size(model) > kMostBytes) return "";
  ::onnx::ModelProto named;
  if (!named.ParseFromString(read_file(model))) return "";
  std::unordered_set<std::string> names;
  int changed = 0;
  for_each_node(*named.mutable_graph(), [&](::onnx::NodeProto& node) {
    if (!node.name().empty() && names.insert(node.name()).second) return;
    node.set_name("regraft_unnamed_" + std::to_string(changed++));
  });
  return changed > 0 ? named.SerializeAsString() : "";
}

KernelProfile profile_once(const std::filesystem::path& model, const Feed& feed,
                           const ProfileOptions& options) {
  const OtherLoad load;
  const TempDir scratch("regraft_profile");
  const TimingPlan plan{options.warmup_runs, kLeastProfiles, most_runs(model), options.budget_s};
  const std::string named = options.kernels ? with_names(model) : "";
  const auto open = [&](const std::filesystem::path& prefix, const std::filesystem::path& rewritten) {
    const SessionOptions session{Optimisation::all, options.threads, prefix, rewritten};
    return named.empty() ? OrtSession(model, session) : OrtSession(named, model, session);
  };
  std::vector<Tensor> inputs;
  const auto profiled = [&](const std::filesystem::path& rewritten) {
    OrtSession session = open(scratch.path() / "profile", rewritten);
    Rng rng(options.seed, "profile inputs");
    inputs = feed.source()->draw(session.inputs(), feed.points[0].sizes, rng);
    session.time_runs_ms(inputs, plan);
    std::ifstream file(session.finish_profile());
    return parse_profile(file, options.warmup_runs);
  };
  KernelProfile profile;
  const std::filesystem::path rewritten = scratch.path() / "rewritten.onnx";
  if (options.kernels && std::filesystem::file_size(model) < kMostRewrittenBytes) {
    try {
      profile = profiled(rewritten);
      name_outputs(read_skeleton(rewritten), profile);
    } catch (const ExecError&) {  // with folded weights it may be larger than a file may be, or than the disk
      profile = {};
    }
  }
  if (profile.kernels.empty()) profile = profiled({});
  if (options.kernels) {
    const std::vector<double> runs_ms = open({}, {}).time_runs_ms(inputs, plan);
    profile.run_us = quantile(runs_ms, kRunQuantile) * 1e3;
  }
  profile.threads = options.threads;
  profile.other_load = load.processors();
  profile.disturbed = profile.other_load > options.most_other_load;
  return profile;
}

}  // namespace

KernelProfile profile_model(const std::filesystem::path& model, const Feed& feed,
                            const ProfileOptions& options) {
  if (!feed.runs()) throw ExecError(feed.problem, model, feed.remedy);
  const SystemClock clock;
  const std::int64_t start_ns = clock.steady_ns();
  KernelProfile quietest = profile_once(model, feed, options);
  for (int tries = 1; tries < kMostTries && quietest.disturbed; ++tries) {
    if (clock.steady_ns() - start_ns > kRetrySeconds * nanoseconds_per_second) break;
    KernelProfile next = profile_once(model, feed, options);
    if (next.other_load < quietest.other_load) quietest = std::move(next);
  }
  return quietest;
}

std::string describe_ceiling(const KernelProfile& profile) {
  std::string text = "no time is in GEMM or convolution kernels";
  if (profile.dense_share() > 0) {
    std::array<char, 32> factor;
    std::snprintf(factor.data(), factor.size(), "%.2fx", profile.ceiling());
    text = "GEMM and convolution kernels take " + percent(profile.dense_share()) +
           " of the time; without all other kernels it would be " + factor.data() + " as fast";
  }
  int named = 0;
  for (const OpTime& op : profile.by_op()) {
    if (is_dense_kernel(op.op) || named == 3) continue;
    text += (named++ == 0 ? (profile.dense_share() > 0 ? " (then " : " (most: ") : ", ") + op.op + " " +
            percent(op.share);
  }
  return named > 0 ? text + ")" : text;
}

}
