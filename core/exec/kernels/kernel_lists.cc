#include "core/exec/kernels/kernel_lists.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <ranges>
#include <set>
#include <tuple>
#include <unordered_map>

#include "core/exec/runtime/model_skeleton.h"
#include "core/onnx/import.h"
#include "core/rules/rewrite/cleanup.h"

namespace regraft::exec {
namespace {

constexpr double kMostOverheadUs = 1.5;  // of the profiler, on one kernel
constexpr double kLeastShare = 0.2;  // of a kernel's time, that is left for what it does before its way out
constexpr std::array<std::string_view, 2> kBlockedSuffixes{"_nchwc", "_bn_nchwc"};
constexpr std::string_view kNumberedSuffix = "_token_";
constexpr std::string_view kInnerPrefix = "reorder";
constexpr std::string_view kWidenedPrefix = "InsertedPrecisionFreeCast_";  // of fp16 that runs in fp32

/// "conv_token_12" as "conv": the runtime numbers names that it gives twice.
std::string without_number(std::string name) {
  const std::size_t at = name.rfind(kNumberedSuffix);
  if (at != std::string::npos &&
      name.find_first_not_of("0123456789", at + kNumberedSuffix.size()) == std::string::npos)
    name.resize(at);
  return name;
}

bool is_reorder(const KernelTime& kernel) {
  return kernel.op.starts_with("Reorder");
}

/// "float[1,64,56,56]" has so many.
double elements_of(const std::string& type) {
  const std::size_t open = type.find('[');
  const auto dims =
      nlohmann::json::parse(open == std::string::npos ? "[]" : type.substr(open), nullptr, false);
  double elements = 1;
  if (dims.is_array())
    for (const auto& dim : dims) elements *= dim.get<double>();
  return elements;
}

/// Takes from each kernel what the profiler added, so that all together take the time of a run without it;
/// less, where a model has bodies: the ops around them take time, too.
void settle(KernelProfile& profile, bool has_bodies) {
  double executions = 0;
  for (const KernelTime& kernel : profile.kernels) executions += kernel.executions;
  if (profile.run_us <= 0 || executions == 0) return;
  const double overhead_us =
      std::clamp((profile.total_us - profile.run_us) / executions, 0.0, kMostOverheadUs);
  double sum_us = 0;
  for (KernelTime& kernel : profile.kernels)
    sum_us += kernel.time_us =
        std::max(kernel.time_us - kernel.executions * overhead_us, kernel.time_us * kLeastShare);
  const double scale = sum_us > 0 ? profile.run_us / sum_us : 1;
  profile.total_us = 0;
  for (KernelTime& kernel : profile.kernels)
    profile.total_us += kernel.time_us *= has_bodies ? std::min(scale, 1.0) : scale;
}

/// Which predicted kernel makes a value, by the value's name; kAmbiguous where bodies share the name.
using KernelsByValue = std::unordered_map<std::string, std::size_t>;
constexpr std::size_t kAmbiguous = SIZE_MAX;

bool has_known_sizes(const graph::Graph& graph, graph::NodeId id, const graph::Bindings& bindings) {
  const graph::Node& node = graph.node(id);
  const auto known = [&](const graph::Value& value) {
    return value == graph::Value{} || bindings.know_all(graph.type(value));  // absent, or known
  };
  for (std::uint32_t k = 0; k < node.outputs.size(); ++k)
    if (!known({id, k})) return false;
  return std::ranges::all_of(node.inputs, known);
}

/// A graph of the model as the runtime sees it when it begins to fuse.
struct CleanGraph {
  graph::Graph graph;
  std::map<graph::NodeId, graph::NodeId> stands_for;  // what clean-up made, for a node of the model
  std::vector<std::pair<graph::NodeId, graph::Value>>
      merged;  // nodes of the model, into values that were there

  CleanGraph(const onnx::ImportedModel& model, std::size_t at) : graph(model.graph(at)) {
    const graph::NodeId bound = graph.id_bound();
    for (const rules::CleanupStep& step : rules::clean_up_as_runtimes(graph))
      if (step.by.present() && step.by.node >= bound)
        stands_for.emplace(step.by.node, in_model(step.node));
      else if (step.pass == rules::CleanupPass::common)
        merged.emplace_back(in_model(step.node), step.by);
  }

  graph::NodeId in_model(graph::NodeId node) const {
    const auto found = stands_for.find(node);
    return found == stands_for.end() ? node : found->second;
  }
};

/// Predicts the kernels of all graphs of the model, and names them.
KernelsByValue predict(const onnx::ImportedModel& model, std::span<const CleanGraph> graphs,
                       const graph::Bindings& bindings, const cost::DeviceProfile& device,
                       KernelLists& lists) {
  KernelsByValue kernels;
  lists.compared.clear();
  for (std::size_t at = 0; at < graphs.size(); ++at) {
    const graph::Graph& graph = graphs[at].graph;
    const auto name_of = [&](graph::NodeId node, std::uint32_t output) {
      return model.value_name({graphs[at].in_model(node), output}, at);
    };
    const graph::Bindings bound = bindings.in(graph.tables());
    const std::size_t first = lists.compared.size();
    for (cost::PredictedKernel& predicted : cost::AnalyticCost(device, bindings, graph).kernels()) {
      const bool reorder = predicted.features.form == cost::KernelForm::reorder;
      for (const graph::NodeId node : predicted.nodes)
        for (std::uint32_t k = 0; k < graph.node(node).outputs.size() && !reorder; ++k) {
          const auto [known, fresh] = kernels.emplace(name_of(node, k), lists.compared.size());
          if (!fresh && known->second < first) known->second = kAmbiguous;
        }
      const bool sized = std::ranges::all_of(
          predicted.nodes, [&](graph::NodeId node) { return has_known_sizes(graph, node, bound); });
      lists.compared.push_back(
          {name_of(predicted.nodes.back(), 0), std::move(predicted), {}, 0, false, sized, at});
    }
    for (const auto& [node, by] : graphs[at].merged | std::views::reverse)  // the runtime may keep the other
      if (const auto kept = kernels.find(name_of(by.node, by.output)); kept != kernels.end())
        kernels.emplace(model.value_name({node, 0}, at), std::size_t{kept->second});
  }
  return kernels;
}

/// The first output of each node of the model, by the node's name.
std::unordered_map<std::string, std::string> outputs_by_node(const std::filesystem::path& model) {
  std::unordered_map<std::string, std::string> outputs;
  ::onnx::GraphProto graph = read_skeleton(model);
  for_each_node(graph, [&](const ::onnx::NodeProto& node) {
    if (!node.name().empty() && node.output_size() > 0) outputs.emplace(node.name(), node.output(0));
  });
  return outputs;
}

/// Values that a launched kernel may make, the likeliest first: those of the runtime's node. A blocked kernel
/// is named by the value that it makes, others by a node that they stand for, and by what was done to it.
std::vector<std::string> values_of(const KernelTime& kernel,
                                   const std::unordered_map<std::string, std::string>& outputs) {
  std::vector<std::string> values = kernel.outputs;
  std::string name = without_number(kernel.node);
  for (const std::string_view suffix : kBlockedSuffixes)
    if (name.ends_with(suffix)) values.push_back(name.substr(0, name.size() - suffix.size()));
  for (std::size_t end = name.size(); end != std::string::npos; end = name.rfind('/')) {
    name.resize(end);
    if (const auto found = outputs.find(name); found != outputs.end()) values.push_back(found->second);
  }
  values.push_back(kernel.reshaped);
  for (std::string& value : values)
    if (value.starts_with(kWidenedPrefix)) value.erase(0, kWidenedPrefix.size());
  return values;
}

/// Several share its time as they were predicted.
void stand_for(KernelLists& lists, std::size_t launched, const std::set<std::size_t>& predicted) {
  double all_us = 0;
  for (const std::size_t at : predicted) all_us += lists.compared[at].predicted.us;
  const KernelTime& kernel = lists.profile.kernels[launched];
  for (const std::size_t at : predicted) {
    ComparedKernel& one = lists.compared[at];
    one.launched.push_back(launched);
    const double share = all_us > 0 ? one.predicted.us / all_us : 1 / static_cast<double>(predicted.size());
    one.launched_us += kernel.time_us / kernel.executions * share;
    one.shared |= predicted.size() > 1;
  }
}

bool is_reorder(const ComparedKernel& one) {
  return one.predicted.features.form == cost::KernelForm::reorder;
}

/// Lets a launched kernel stand for the first predicted one of a kind that none stands for yet.
bool match_first(KernelLists& lists, std::size_t launched,
                 const std::function<bool(const ComparedKernel&)>& is_same) {
  const auto same = std::ranges::find_if(
      lists.compared, [&](const ComparedKernel& one) { return one.launched.empty() && is_same(one); });
  if (same == lists.compared.end()) return false;
  stand_for(lists, launched, {static_cast<std::size_t>(same - lists.compared.begin())});
  return true;
}

/// In its own layout the runtime makes values that no model names, by a move into it or a Gelu in parts:
/// those of the same size stand for each other.
bool match_by_size(KernelLists& lists, std::size_t launched) {
  const KernelTime& kernel = lists.profile.kernels[launched];
  if (kernel.input_types.empty() || kernel.outputs.empty() || !kernel.outputs[0].starts_with(kInnerPrefix))
    return false;
  const double bytes = elements_of(kernel.input_types[0]) * sizeof(float);
  return match_first(lists, launched, [&](const ComparedKernel& one) {
    const bool same_op = is_reorder(kernel) ? is_reorder(one) : one.predicted.features.op_name() == kernel.op;
    return same_op &&
           static_cast<double>(one.predicted.features.sizes[cost::KernelFeatures::read_bytes]) == bytes;
  });
}

/// All predicted kernels that make values within a launched one; views only where there are no others.
std::set<std::size_t> predicted_within(const KernelLists& lists, const KernelTime& kernel,
                                       const KernelsByValue& kernels) {
  std::set<std::size_t> within;
  for (const std::string& value : kernel.within)
    if (const auto found = kernels.find(value); found != kernels.end() && found->second != kAmbiguous)
      within.insert(found->second);
  const auto is_view = [&](std::size_t at) { return lists.compared[at].predicted.view; };
  if (!std::ranges::all_of(within, is_view)) std::erase_if(within, is_view);
  return within;
}

bool match_by_name(KernelLists& lists, std::size_t launched, const KernelsByValue& kernels,
                   const std::unordered_map<std::string, std::string>& outputs) {
  const KernelTime& kernel = lists.profile.kernels[launched];
  const auto within = predicted_within(lists, kernel, kernels);
  if (!within.empty()) {
    stand_for(lists, launched, within);
    return true;
  }
  if (is_reorder(kernel))  // one out of the runtime's layout makes a value of the model
    return match_first(lists, launched, [&](const ComparedKernel& one) {
      return is_reorder(one) && !kernel.outputs.empty() && one.value == kernel.outputs[0];
    });
  for (const std::string& value : values_of(kernel, outputs)) {
    const auto found =
        value.empty() ? kernels.end() : kernels.find(value);  // empty: an output that is left out
    if (found == kernels.end() || found->second == kAmbiguous) continue;
    stand_for(lists, launched, {found->second});
    return true;
  }
  return false;
}

/// Lets launched kernels stand for those that were predicted, which it gives back.
KernelsByValue compare_with(KernelsByValue kernels,
                            const std::unordered_map<std::string, std::string>& outputs, KernelLists& lists) {
  lists.unexpected.clear();
  std::vector<bool> known(lists.profile.kernels.size());
  for (std::size_t i = 0; i < known.size(); ++i) known[i] = match_by_name(lists, i, kernels, outputs);
  for (std::size_t i = 0; i < known.size(); ++i)
    if (!known[i] && !match_by_size(lists, i)) lists.unexpected.push_back(i);
  return kernels;
}

bool fuses_over_symbols(const KernelLists& lists) {
  return std::ranges::any_of(lists.compared, [&](const ComparedKernel& one) {
    return !lists.is_as_predicted(one) && std::ranges::any_of(one.launched, [&](std::size_t at) {
      return lists.profile.kernels[at].op == "SkipLayerNormalization";
    });
  });
}

/// KernelLists::graph_runs. Moves between layouts, and kernels that may be another graph's, tell nothing.
std::vector<std::optional<double>> graph_runs(const KernelLists& lists, const KernelsByValue& kernels,
                                              std::size_t graphs) {
  std::vector<std::optional<double>> runs(graphs);
  for (const ComparedKernel& one : lists.compared) {
    const auto named = kernels.find(one.value);
    if (one.predicted.view || is_reorder(one) || named == kernels.end() || named->second == kAmbiguous)
      continue;
    double most = runs[one.graph].value_or(0);
    for (const std::size_t at : one.launched) most = std::max(most, lists.profile.kernels[at].executions);
    runs[one.graph] = most;
  }
  return runs;
}

}  // namespace

bool is_view(const KernelTime& kernel) {
  constexpr std::array kViews{"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Shape"};
  return std::ranges::find(kViews, kernel.op) != kViews.end();
}

/// Kernels of the runtime that are one form of a predicted kernel, and no other.
struct FormOfKernel {
  std::string_view op;
  cost::KernelKind kind;
};
constexpr std::array kFormsOfKernels{
    FormOfKernel{"LayerNormalization", {graph::OpKind::layer_norm}},
    FormOfKernel{"SimplifiedLayerNormalization", {graph::OpKind::layer_norm}},
    FormOfKernel{"SkipLayerNormalization", {graph::OpKind::layer_norm, cost::KernelForm::skip}},
    FormOfKernel{"QLinearSoftmax", {graph::OpKind::softmax, cost::KernelForm::quantised}},
    FormOfKernel{"QLinearMatMul", {graph::OpKind::matmul, cost::KernelForm::quantised}},
    FormOfKernel{"QLinearConv", {graph::OpKind::conv, cost::KernelForm::quantised}},
    FormOfKernel{"QGemm", {graph::OpKind::gemm, cost::KernelForm::quantised}},
    FormOfKernel{"FastGelu", {graph::OpKind::gelu, cost::KernelForm::by_tanh}},
    FormOfKernel{"QuickGelu", {graph::OpKind::sigmoid, cost::KernelForm::gated}},
};

bool KernelLists::is_as_predicted(const ComparedKernel& one) const {
  const cost::KernelKind kind{one.predicted.features.kind, one.predicted.features.form};
  return std::ranges::all_of(kFormsOfKernels, [&](const FormOfKernel& form) {
    const bool launched =
        std::ranges::any_of(one.launched, [&](std::size_t at) { return profile.kernels[at].op == form.op; });
    return !launched || kind == form.kind;
  });
}

bool KernelLists::agrees(const ComparedKernel& one) const {
  return !one.predicted.view && !one.shared &&
         std::ranges::count_if(one.launched, [&](std::size_t at) { return !is_view(profile.kernels[at]); }) ==
             1 &&
         is_as_predicted(one);
}

double KernelLists::predicted_us() const {
  double us = 0;
  for (const ComparedKernel& one : compared) us += one.predicted.us;
  return us;
}

double KernelLists::agreed_share() const {
  double agreed_us = 0, all_us = 0;
  for (const KernelTime& kernel : profile.kernels) all_us += is_view(kernel) ? 0 : kernel.time_us;
  for (const ComparedKernel& one : compared)
    for (const std::size_t at : one.launched)
      agreed_us += agrees(one) && !is_view(profile.kernels[at]) ? profile.kernels[at].time_us : 0;
  return all_us > 0 ? agreed_us / all_us : 1;
}

std::vector<cost::KernelSample> KernelLists::samples() const {
  std::vector<cost::KernelSample> samples;
  for (const ComparedKernel& one : compared) {
    const cost::PredictedKernel& kernel = one.predicted;
    if (kernel.view || one.launched.empty() || !is_as_predicted(one)) continue;
    const double beside_us = kernel.us - kernel.corrected_us;
    samples.push_back({kernel.features, kernel.analytic_us,
                       std::max(one.launched_us - beside_us, one.launched_us * kLeastShare),
                       one.sized ? cost::KernelSource::this_model : cost::KernelSource::unsized});
  }
  return samples;
}

KernelLists compare_kernels(const std::filesystem::path& model, const Feed& feed,
                            const cost::DeviceProfile& device, const ProfileOptions& options) {
  ProfileOptions named = options;
  named.kernels = true;
  return compare_profile(model, feed, device, profile_model(model, feed, named));
}

KernelLists compare_profile(const std::filesystem::path& model, const Feed& feed,
                            const cost::DeviceProfile& device, KernelProfile profile) {
  KernelLists lists;
  lists.profile = std::move(profile);
  const onnx::ImportedModel imported =
      onnx::import_model(model, {.inlined_calls = SIZE_MAX});  // as feeds see it
  if (!lists.profile.alone) settle(lists.profile, imported.graph_count() > 1);
  graph::Bindings bindings;
  for (const auto& [name, size] : feed.points[0].all()) bindings.bind(imported.tables().symbol(name), size);
  std::vector<CleanGraph> graphs;
  for (std::size_t at = 0; at < imported.graph_count(); ++at) graphs.emplace_back(imported, at);
  cost::DeviceProfile rates = device;
  const auto outputs = outputs_by_node(model);
  KernelsByValue kernels = compare_with(predict(imported, graphs, bindings, rates, lists), outputs, lists);
  if (fuses_over_symbols(lists)) {
    KernelLists inferring = lists;
    cost::DeviceProfile other = device;
    other.infers_symbols = inferring.infers_symbols = true;
    KernelsByValue named =
        compare_with(predict(imported, graphs, bindings, other, inferring), outputs, inferring);
    if (inferring.agreed_share() > lists.agreed_share())
      std::tie(lists, kernels, rates) = std::tuple(std::move(inferring), std::move(named), std::move(other));
  }
  lists.graph_runs.resize(graphs.size());
  const bool counts =
      std::ranges::all_of(lists.profile.kernels, [](const KernelTime& k) { return k.within.empty(); });
  if (counts && !lists.profile.alone) lists.graph_runs = graph_runs(lists, kernels, graphs.size());
  rates.measured = std::make_shared<cost::MeasuredKernels>(lists.samples());
  for (const CleanGraph& clean : graphs)
    lists.corrected_us += cost::AnalyticCost(rates, bindings, clean.graph).latency_us();
  return lists;
}

}
