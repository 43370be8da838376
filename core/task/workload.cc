#include "core/task/workload.h"

#include <charconv>
#include <optional>

#include "core/cost/analytic.h"
#include "core/env/synthetic.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "core/rules/rewrite/cleanup.h"
#include "core/task/config_files.h"

namespace regraft::task {
namespace {

constexpr char kSynthetic[] = "synthetic:";
constexpr double kSyntheticRiseUs = 1.0;

bool is_synthetic(const std::string& model) {
  return model.starts_with(kSynthetic);
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

class OnnxModel : public Task {
 public:
  OnnxModel(const WorkloadOptions& options, const std::filesystem::path& file)
      : name_(file.stem().string()),
        model_(onnx::import_model(file)),
        start_(model_.graph()),
        rules_(load_rules(options)),
        sizes_(options.bind),
        bindings_(bind_symbols(sizes_, model_.tables())),
        costs_(cost::load_device(find_config(options.device)), bindings_) {
    if (options.models.size() == 1) check_bound();
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
  /// With several models, another one may have the dim.
  void check_bound() const {
    for (const auto& [name, size] : sizes_)
      if (!model_.tables().find_symbol(name))
        throw WorkloadError("has no symbolic dim '" + name + "'", name_,
                            "correct workload.bind or --bind; `regraft inspect` shows the inputs");
  }

  std::string name_;
  onnx::ImportedModel model_;
  graph::Graph start_;
  rules::RuleSet rules_;
  NamedSizes sizes_;
  graph::Bindings bindings_;
  cost::AnalyticFactory costs_;
};

}  // namespace

std::vector<Option> workload_options() {
  const env::EnvOptions d;
  const auto weight = [](const std::string& part, double value) {
    return Option(("workload.weight_" + part).c_str(), value,
                  ("of relative " + part + " in the detailed reward").c_str())
        .between(0, 1e6)
        .fixed_on_resume();
  };
  std::vector<Option> options{
      Option("workload.models", TextList{}, "ONNX files to train on, or synthetic:CHAINS:LOCKED:VALLEY:SEED")
          .fixed_on_resume(),
      Option("workload.rules", "configs/rules", "a .rules file or a folder of them").fixed_on_resume(),
      Option("workload.device", "configs/devices/cpu-1core.toml", "device profile of the cost model")
          .fixed_on_resume(),
      Option("workload.bind", TextList{},
             "sizes of the models' symbolic dims, such as batch=8; others count as 1")
          .fixed_on_resume(),
      Option("workload.horizon", static_cast<std::int64_t>(d.horizon), "steps of an episode at most")
          .between(1, 10000)
          .fixed_on_resume(),
      Option("workload.horizon_mode", "terminate",
             "what the horizon means: an end, or a cut that is bootstrapped")
          .one_of({"terminate", "truncate"})
          .fixed_on_resume(),
      Option("workload.locations", static_cast<std::int64_t>(d.location_limit),
             "locations of a rule that can be chosen")
          .between(1, 65535)
          .fixed_on_resume(),
      Option("workload.invalid_penalty", d.invalid_penalty,
             "subtracted from the reward of an action that is not legal, in real environments and in dreams")
          .between(0, 1e6)
          .fixed_on_resume(),
      Option(
          "workload.action_mode", std::string(enum_name(d.action_mode)).c_str(),
          "one_site: a rule at one of its locations is an action; all_sites: at all of them too, as one step")
          .one_of({"one_site", "all_sites"})
          .formerly("workload.everywhere", "write all_sites for true, one_site for false")
          .fixed_on_resume(),
      Option(
          "workload.reward", "incremental",
          "cost change of each step, of the whole episode at its end, of its best graph as it is found, of "
          "several costs by weight, or as measured in ONNX Runtime")
          .one_of(env::reward_kind_names())
          .fixed_on_resume(),
      weight("latency", d.reward_settings.weights.latency),
      weight("flops", d.reward_settings.weights.flops),
      weight("memory", d.reward_settings.weights.memory),
      weight("launches", d.reward_settings.weights.launches),
      Option("workload.measure_every", static_cast<std::int64_t>(d.reward_settings.measure_every),
             "steps between the measurements of the measured reward; 0: at the end alone")
          .between(0, 10000)
          .fixed_on_resume(),
  };
  return options;
}

WorkloadOptions workload_options_from(const Config& config) {
  WorkloadOptions options;
  options.models = config.list("workload.models");
  options.rules = config.text("workload.rules");
  options.device = config.text("workload.device");
  options.bind = parse_bindings(config.list("workload.bind"), "workload.bind");
  options.environment.horizon = static_cast<std::uint32_t>(config.integer("workload.horizon"));
  options.environment.horizon_mode = config.text("workload.horizon_mode") == "truncate"
                                         ? env::HorizonMode::truncate
                                         : env::HorizonMode::terminate;
  options.environment.location_limit = static_cast<std::uint32_t>(config.integer("workload.locations"));
  options.environment.invalid_penalty = config.number("workload.invalid_penalty");
  options.environment.action_mode = *enum_value<env::ActionMode>(config.text("workload.action_mode"));
  options.environment.reward = env::reward_kind_from_name(config.text("workload.reward"));
  options.environment.reward_settings.weights = {.latency = config.number("workload.weight_latency"),
                                                 .flops = config.number("workload.weight_flops"),
                                                 .memory = config.number("workload.weight_memory"),
                                                 .launches = config.number("workload.weight_launches")};
  options.environment.reward_settings.measure_every =
      static_cast<std::uint32_t>(config.integer("workload.measure_every"));
  return options;
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
    task = std::make_unique<OnnxModel>(options, name);
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

}  // namespace regraft::task
