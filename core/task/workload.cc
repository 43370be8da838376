#include "core/task/workload.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>

#include "core/base/find_config.h"
#include "core/base/text.h"
#include "core/corpus/corpus.h"
#include "core/cost/analytic_cost.h"
#include "core/cost/kernel_database.h"
#include "core/env/synthetic.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "core/rules/rewrite/cleanup.h"
#include "core/task/load_rule_set.h"

namespace regraft::task {
namespace {

constexpr char kSynthetic[] = "synthetic:";
constexpr double kSyntheticRiseUs = 1.0;

bool is_synthetic(const std::string& model) {
  return model.starts_with(kSynthetic);
}

/// What models are called: their stems, or the names by which they are made.
std::string name_of(const std::string& model) {
  return is_generated(model) ? model : std::filesystem::path(model).stem().string();
}

/// "synthetic:CHAINS:LOCKED:VALLEY:SEED"
env::SyntheticOptions parse_synthetic(const std::string& model) {
  const auto refuse = [&] {
    throw WorkloadError("is no synthetic graph", model,
                        "write synthetic:CHAINS:LOCKED:VALLEY:SEED, such as synthetic:6:2:1:0");
  };
  std::vector<std::uint64_t> fields;
  for (std::size_t at = sizeof kSynthetic - 1; at <= model.size();) {
    const std::size_t end = std::min(model.find(':', at), model.size());
    std::uint64_t value = 0;
    const auto [stop, problem] = std::from_chars(model.data() + at, model.data() + end, value);
    if (problem != std::errc() || stop != model.data() + end) refuse();
    fields.push_back(value);
    at = end + 1;
  }
  if (fields.size() != 4) refuse();
  env::SyntheticOptions options;
  options.chains = static_cast<std::uint32_t>(fields[0]);
  options.locked = static_cast<std::uint32_t>(fields[1]);
  options.valley = static_cast<std::uint32_t>(fields[2]);
  options.rise_us = kSyntheticRiseUs;
  options.seed = fields[3];
  return options;
}

class SyntheticGraph : public Task {
 public:
  explicit SyntheticGraph(const std::string& model)
      : name_(model),
        task_(env::make_synthetic_task(parse_synthetic(model))),
        rules_(env::make_synthetic_rules(parse_synthetic(model).valley)),
        costs_(env::make_synthetic_costs(kSyntheticRiseUs)) {}
  const graph::Graph& start() const override { return *task_.start; }
  const rules::RuleSet& rules() const override { return rules_; }
  const cost::CostFactory& costs() const override { return costs_; }
  const std::string& name() const override { return name_; }
  const graph::Bindings& bindings() const override { return bindings_; }
  const NamedSizes& sizes() const override { return sizes_; }
  void write(const graph::Graph&, const std::filesystem::path&) const override {
    throw WorkloadError("a synthetic graph is no model and cannot be measured", name_,
                        "use a reward that is not measured");
  }

 private:
  std::string name_;
  env::SyntheticTask task_;
  rules::RuleSet rules_;
  env::TableCostFactory costs_;
  graph::Bindings bindings_;
  NamedSizes sizes_;
};

/// The rates with what `workload.cost` adds.
cost::DeviceProfile device_for(const WorkloadOptions& options) {
  const std::filesystem::path file = find_config(options.device);
  if (options.cost == CostKind::device) return cost::load_device(file);
  cost::DeviceProfile device = cost::device_of_this_machine(file, REGRAFT_RUNTIME_VERSION);
  cost::KernelDatabase database(cost::default_kernel_database());
  auto kernels = database.read(kernel_fingerprint(options));
  for (cost::KernelSample& kernel : kernels)
    kernel.source = cost::KernelSource::this_model;  // all count alike
  if (kernels.empty())
    throw WorkloadError("no kernels were measured on this machine for workload.cost" +
                            (database.problem().empty() ? "" : ": " + database.problem()),
                        cost::default_kernel_database().string(),
                        "run `regraft calibrate`, or set workload.cost=device");
  device.measured = std::make_shared<cost::MeasuredKernels>(kernels);
  if (options.cost == CostKind::alone) device.fusing = cost::Fusing::nothing;
  return device;
}

/// A model of the corpus as bytes; none of a file.
std::string generated_bytes(const std::string& model) {
  return corpus::is_corpus_name(model) ? corpus::make_model(model) : "";
}

onnx::ImportedModel imported(const std::string& model, const std::string& generated) {
  const onnx::ImportOptions options{.inlined_calls = SIZE_MAX};
  if (generated.empty()) return onnx::import_model(model, options);
  return onnx::import_model_bytes(std::as_bytes(std::span(generated)), {}, options);
}

class OnnxModel : public Task {
 public:
  OnnxModel(const WorkloadOptions& options, std::size_t number)
      : name_(name_of(options.models[number])),
        generated_(generated_bytes(options.models[number])),
        model_(imported(options.models[number], generated_)),
        start_(model_.graph()),
        rules_(load_rules(options)),
        sizes_(sizes_for(model_names(options.models)[number], options.bind)),
        bindings_(bind_symbols(sizes_, model_.tables())),
        costs_(device_for(options), bindings_) {
    if (options.models.size() == 1) check_bound();
    warn_of_unbound();
    rules::clean_up(start_, rules_);
    start_.commit();
  }
  const graph::Graph& start() const override { return start_; }
  const rules::RuleSet& rules() const override { return rules_; }
  const cost::CostFactory& costs() const override { return costs_; }
  const std::string& name() const override { return name_; }
  const graph::Bindings& bindings() const override { return bindings_; }
  const NamedSizes& sizes() const override { return sizes_; }
  void write(const graph::Graph& graph, const std::filesystem::path& path) const override {
    onnx::export_model(model_, graph, path);
  }

 private:
  /// With several models, another one may have the dim; a name with a colon may be that of another job's.
  void check_bound() const {
    for (const auto& [name, size] : sizes_)
      if (!model_.tables().find_symbol(name) && name.find(':') == std::string::npos)
        throw WorkloadError("has no symbolic dim '" + name + "'", name_,
                            "correct workload.bind or --bind; `regraft inspect` shows the inputs");
  }

  void warn_of_unbound() const {
    std::vector<std::string> unbound;
    for (graph::NodeId id = 0; id < start_.id_bound(); ++id) {
      if (!start_.alive(id) || start_.node(id).kind != graph::OpKind::input) continue;
      for (const graph::Dim dim : start_.type({id, 0}).dims) {
        if (!graph::is_symbol(dim) || bindings_.find(graph::dim_symbol(dim))) continue;
        const std::string& name = model_.tables().symbol_name(graph::dim_symbol(dim));
        if (std::ranges::find(unbound, name) == unbound.end()) unbound.push_back(name);
      }
    }
    if (unbound.empty()) return;
    std::fprintf(stderr, "regraft: warning: %s: dims without a size count as 1: %s; bind them\n",
                 name_.c_str(), join(unbound, ", ").c_str());
  }

  std::string name_;
  std::string generated_;  // what the model's tensors lie in, unless it is a file
  onnx::ImportedModel model_;
  graph::Graph start_;
  rules::RuleSet rules_;
  NamedSizes sizes_;
  graph::Bindings bindings_;
  cost::AnalyticFactory costs_;
};

template <typename T>
auto environment(T env::EnvOptions::*part) {
  return [part](WorkloadOptions& options) -> T& { return options.environment.*part; };
}

auto weight(double env::RewardWeights::*part) {
  return [part](WorkloadOptions& options) -> double& {
    return options.environment.reward_settings.weights.*part;
  };
}

std::uint32_t& measure_every(WorkloadOptions& options) {
  return options.environment.reward_settings.measure_every;
}

const BoundOptions<WorkloadOptions>& table() {
  static const auto options = BoundOptions<WorkloadOptions>::fixed_on_resume({
      {"workload.models", &WorkloadOptions::models, any(),
       "ONNX files to train on, models of the corpus (corpus:FAMILY:SEED, corpus:train:0-24), or "
       "synthetic:CHAINS:LOCKED:VALLEY:SEED"},
      {"workload.environments", &WorkloadOptions::environments, between(1, 100000),
       "models that an actor keeps loaded; beyond that the one unused for longest is dropped"},
      {"workload.rules", &WorkloadOptions::rules, any(), "a .rules file or a folder of them"},
      {"workload.device", &WorkloadOptions::device, any(), "device profile of the cost model"},
      {"workload.cost", &WorkloadOptions::cost, any(),
       "how graphs are costed. device: by the rates of workload.device. measured: the same, corrected by the "
       "kernels that `regraft calibrate` measured on this machine. alone: as in TASO, the sum over all "
       "operations, each timed by itself with these kernels"},
      {"workload.horizon", environment(&env::EnvOptions::horizon), between(1, 10000),
       "most steps of an episode"},
      {"workload.horizon_mode", environment(&env::EnvOptions::horizon_mode), any(),
       "terminate: the horizon ends an episode; truncate: it cuts it, and the value of the rest is "
       "estimated"},
      {"workload.locations", environment(&env::EnvOptions::location_limit), between(1, 65535),
       "most locations of a rule that can be chosen"},
      {"workload.invalid_penalty", environment(&env::EnvOptions::invalid_penalty), between(0, 1e6),
       "what is subtracted from the reward of an action that is not legal, in real environments and in "
       "dreams"},
      {"workload.action_mode", environment(&env::EnvOptions::action_mode),
       any().formerly("workload.everywhere", "write all_sites for true, one_site for false"),
       "one_site: an action is a rule at one of its locations; all_sites: also a rule at all of them, as one "
       "step"},
      {"workload.reward", environment(&env::EnvOptions::reward), any(),
       "incremental: the cost change of each step; terminal: that of the whole episode, at its end; best: "
       "that of its best graph, as it is found; detailed: several costs, by weight; measured: as measured in "
       "ONNX Runtime"},
      {"workload.reward_weight_latency", weight(&env::RewardWeights::latency),
       between(0, 1e6).formerly("workload.weight_latency"),
       "weight of relative latency in the detailed reward"},
      {"workload.reward_weight_flops", weight(&env::RewardWeights::flops),
       between(0, 1e6).formerly("workload.weight_flops"), "weight of relative flops in the detailed reward"},
      {"workload.reward_weight_memory", weight(&env::RewardWeights::memory),
       between(0, 1e6).formerly("workload.weight_memory"),
       "weight of relative memory in the detailed reward"},
      {"workload.reward_weight_launches", weight(&env::RewardWeights::launches),
       between(0, 1e6).formerly("workload.weight_launches"),
       "weight of relative launches in the detailed reward"},
      {"workload.reward_measure_every", &measure_every, between(0, 10000).formerly("workload.measure_every"),
       "steps between the measurements of the measured reward; 0: at the end alone"},
  });
  return options;
}

constexpr char kBind[] = "workload.bind";

}  // namespace

std::string kernel_fingerprint(const WorkloadOptions& options) {
  return cost::device_fingerprint(find_config(options.device), "ONNX Runtime " REGRAFT_RUNTIME_VERSION " CPU",
                                  1);
}

std::vector<Option> workload_options() {
  std::vector<Option> options = table().options();
  options.emplace_back(kBind, TextList{}, any().fixed(),
                       "sizes of the models' dynamic dims: batch=8, or MODEL:batch=8 for one model. Commands "
                       "find those that are not given (launch/docs/optimise.md); in Python they count as 1");
  return options;
}

WorkloadOptions workload_options_from(const Config& config) {
  WorkloadOptions options = table().from(config);
  options.models = expanded_models(options.models);
  options.bind = parse_bindings(config.list(kBind), kBind);
  return options;
}

std::vector<std::string> expanded_models(const std::vector<std::string>& models) {
  std::vector<std::string> expanded;
  for (const std::string& model : models)
    std::ranges::move(corpus::expanded(model), std::back_inserter(expanded));
  return expanded;
}

bool is_generated(const std::string& model) {
  return is_synthetic(model) || corpus::is_corpus_name(model);
}

std::vector<std::string> model_names(const std::vector<std::string>& models) {
  std::map<std::string, int> seen;
  std::vector<std::string> names;
  for (const std::string& model : models) {
    std::string name = name_of(model);
    if (const int count = seen[name]++; count > 0) name += "-" + std::to_string(count + 1);
    names.push_back(std::move(name));
  }
  return names;
}

rules::RuleSet load_rules(const WorkloadOptions& options) {
  std::optional<std::uint32_t> valley;
  std::size_t synthetic = 0;
  for (const std::string& model : options.models) {
    if (!is_synthetic(model)) continue;
    const std::uint32_t held = parse_synthetic(model).valley;
    if (valley && *valley != held)
      throw WorkloadError("synthetic graphs of one job must have the same VALLEY", model,
                          "their rules differ");
    valley = held;
    ++synthetic;
  }
  if (synthetic != 0 && synthetic != options.models.size())
    throw WorkloadError("synthetic graphs and ONNX models do not mix", "workload.models",
                        "their rules differ");
  return valley ? env::make_synthetic_rules(*valley) : load_rule_set(options.rules);
}

std::unique_ptr<Task> load_task(const WorkloadOptions& options, std::size_t model) {
  if (model >= options.models.size())
    throw WorkloadError(
        "asks for model " + std::to_string(model) + " of " + std::to_string(options.models.size()), "ticket",
        "learner and actors must have the same config");
  const std::string& name = options.models[model];
  std::unique_ptr<Task> task;
  if (is_synthetic(name))
    task = std::make_unique<SyntheticGraph>(name);
  else
    task = std::make_unique<OnnxModel>(options, model);
  if (options.environment.reward != env::RewardKind::measured) return task;
  if (!options.make_meter)
    throw WorkloadError("nothing is at hand to measure the reward with", "workload.reward",
                        "use another reward here");
  task->set_meter(options.make_meter(*task));
  return task;
}

env::Environment make_environment(const Task& task, const WorkloadOptions& options, const Clock& clock) {
  env::EnvOptions environment = options.environment;
  environment.reward_settings.meter = task.meter();
  environment.bindings = task.bindings();
  return {task.start(), task.rules(), task.costs(), environment, clock};
}

}
