#include "launch/job/model_based.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/stats.h"
#include "core/nn/model/world_bundle.h"
#include "launch/call/exit_code.h"
#include "launch/evaluate/controller_choice.h"
#include "launch/job/job_config.h"
#include "launch/job/model_based_options.h"
#include "launch/job/prepared_run.h"
#include "learner/controller/dream_phase.h"
#include "learner/world/world_folder.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path bundle_of(const learner::RunFolder& folder) {
  return folder.policies() / "latest.world";
}

fs::path evaluation_of(const learner::RunFolder& job) {
  return job.root / "evaluation.json";
}

std::string round_name(std::int64_t round) {
  return "round-" + std::to_string(round);
}

/// Folders of the rounds that a job has begun, in their order.
std::vector<fs::path> rounds_of(const learner::RunFolder& job) {
  std::vector<fs::path> rounds;
  for (std::int64_t round = 1; fs::exists(job.root / round_name(round)); ++round)
    rounds.push_back(job.root / round_name(round));
  return rounds;
}

json json_in(const fs::path& path) {
  return fs::exists(path) ? json::parse(read_file(path), nullptr, false) : json();
}

void check(const Config& config, std::int64_t actors) {
  if (actors == 0) throw UsageError("a job without actors learns nothing", "actors.count", "use at least 1");
  if (actor_options().from(config).dreaming != 0)
    throw UsageError("all actors collect, and then all of them dream", "actors.dream",
                     "leave it out and set actors.count");
  if (!config.text("dream.world").empty())
    throw UsageError("the phase model-based fits its own world models", "dream.world",
                     "leave it out, or use train.phase=dream");
  if (config.integer("train.updates") == 0 && config.number("train.minutes") == 0)
    throw UsageError("without a limit the first controller would learn for ever", "train.updates",
                     "set it or train.minutes");
  learner::check_dream_options(learner::learner_options_from(config), learner::dream_options_from(config),
                               false);
}

/// Where fewer rounds are asked for than were begun, what would be evaluated is not what was made last.
void check_rounds(const learner::RunFolder& job, std::int64_t rounds) {
  const std::vector<fs::path> begun = rounds_of(job);
  if (begun.size() > static_cast<std::size_t>(rounds))
    throw UsageError("a further round was begun in " + begun.back().string(), "model_based.rounds",
                     "ask for as many as there are, or more");
}

/// Makes a bundle the job's, where it is not yet.
void publish(const std::string& bundle, const learner::RunFolder& job) {
  if (fs::exists(bundle_of(job)) && read_file(bundle_of(job)) == bundle) return;
  fs::remove(evaluation_of(job));  // of another controller
  fs::create_directories(job.policies());
  write_file_atomic(bundle_of(job), bundle);
}

/// How a process of the job's own ended.
struct WorkerEnd {
  int code = 0;
  bool asked_to_stop = false;
};

WorkerEnd run_worker(const std::string& name, std::vector<std::string> words) {
  words.insert(words.begin(), program_path());
  WorkerSpec worker{name, std::move(words)};
  worker.leads = true;
  worker.numbered = false;
  worker.saves = false;
  SupervisorOptions options = supervisor_options();
  options.quick_death_ns = std::numeric_limits<std::int64_t>::max();  // however long it took to fail
  options.quick_deaths_allowed = 3;
  const SystemClock clock;
  Supervisor supervisor({worker}, std::move(options), clock);
  const int code = supervisor.run();
  return {code, supervisor.asked_to_stop()};
}

/// `regraft evaluate`, in a process of its own.
WorkerEnd evaluate(const learner::RunFolder& job, const Config& config) {
  const ModelBasedOptions options = model_based_options().from(config);
  return run_worker("evaluation",
                    {"evaluate", "--config", job.config().string(), "--policy", bundle_of(job).string(),
                     "--searches", "greedy", "--episodes", std::to_string(options.episodes), "--trajectories",
                     std::to_string(options.trajectories), "--seed",
                     std::to_string(config.integer("train.seed")), "--json", evaluation_of(job).string()});
}

/// The mean of those that are numbers; null stands for what is not.
double average(const json& values) {
  std::vector<double> numbers;
  for (const json& value : values)
    if (value.is_number()) numbers.push_back(value);
  return mean(numbers);
}

/// What counts of each model, out of all that `regraft evaluate` wrote.
json figures_of(const json& evaluation) {
  json models = json::array();
  for (const json& entry : evaluation) {
    const std::string kind = entry.at("kind");
    if (models.empty() || models.back().at("model") != entry.at("model"))
      models.push_back(json::object({{"model", entry.at("model")}}));
    json& model = models.back();
    if (kind == "policy") model["controller"] = average(entry.at("returns"));
    if (kind == "greedy" || kind == "random") model[kind] = average(entry.at("returns"));
    if (kind != "dream-validity") continue;
    for (const char* name : {"predicted", "real"}) model[name] = average(entry.at(name));
    for (const char* name : {"mean_error", "rank_correlation", "illegal_share"}) model[name] = entry.at(name);
  }
  return models;
}

void write_summary(const learner::RunFolder& job, const std::vector<ModelBasedStep>& steps) {
  json all{{"phase", "model-based"}, {"steps", json::object()}};
  for (const ModelBasedStep& step : steps) all["steps"][step.name] = json_in(step.folder.summary());
  const json evaluation = json_in(evaluation_of(job));
  // While a further round is under way there may be an evaluation of the last one's controller.
  bool finished = evaluation.is_array() && std::ranges::all_of(steps, &ModelBasedStep::done);
  if (finished && ControllerChoice::wanted(steps.back().config)) {
    const ControllerChoice choice(job, steps.back().folder, steps.back().config);
    finished = choice.made();
    if (finished) all["choice"] = choice.summary();
  }
  all["finished"] = finished;
  if (finished) all["evaluation"] = figures_of(evaluation);
  write_file_atomic(job.summary(), all.dump(2) + "\n");
}

int stopped(const learner::RunFolder& job, const std::vector<ModelBasedStep>& steps) {
  write_summary(job, steps);
  std::fprintf(stderr, "regraft: stopped; `regraft train --run %s --resume` goes on\n", job.root.c_str());
  return kDone;
}

void announce(std::size_t step, std::size_t steps, const std::string& name, bool done) {
  std::fprintf(stderr, "regraft: step %zu of %zu: %s%s\n", step, steps, name.c_str(),
               done ? ": done before" : "");
}

/// A step that is done stays as it is, whatever options a job is resumed with.
void tell_differences(const ModelBasedStep& step) {
  const std::vector<ConfigDifference> changed = differences(load_run_config(step.folder), step.config);
  if (!changed.empty())
    std::fprintf(stderr, "regraft: %s was made with other options and is kept:\n%s\n", step.name.c_str(),
                 describe(changed).c_str());
}

void tell(const ControllerChoice& choice, const Config& config) {
  const CheckedController& kept = choice.chosen();
  const auto update = static_cast<unsigned long long>(kept.update);
  if (choice.within_trust())
    std::fprintf(stderr,
                 "regraft: kept is the controller of update %llu: real %.4f, |predicted - real| %.4f\n",
                 update, kept.real, kept.mean_error);
  else
    std::fprintf(
        stderr,
        "regraft: warning: the dreams of no controller are to be believed: |predicted - real| is %.4f "
        "at least, where model_based.trust asks for %.4f; kept is that of update %llu, real %.4f; more "
        "rounds (model_based.rounds) or more steps in each (model_based.further_steps) may help\n",
        kept.mean_error, controller_choice_options().from(config).trust, update, kept.real);
}

/// The step `choice`, after which the chosen controller is the job's. An exit code; nothing where it was
/// stopped.
std::optional<int> choose(const learner::RunFolder& job, const Config& config,
                          const learner::RunFolder& dream) {
  ControllerChoice choice(job, dream, config);
  if (!choice.all_checked()) {
    const WorkerEnd end = run_worker(
        "checks", {"check-controllers", "--run", job.root.string(), "--dream", dream.root.string()});
    if (end.code != 0) return end.code;
    choice = ControllerChoice(job, dream, config);
    if (end.asked_to_stop || !choice.all_checked()) return std::nullopt;
  }
  const std::vector<std::byte> bundle = nn::encode_bundle(choice.kept());
  publish(std::string(reinterpret_cast<const char*>(bundle.data()), bundle.size()), job);
  choice.save();
  tell(choice, config);
  return kDone;
}

/// The controller of a round becomes the job's once it has learned. That of the last round does so only where
/// the job chooses none. Done again where a job was killed right before it.
void publish_last(const learner::RunFolder& job, const std::vector<ModelBasedStep>& steps, std::size_t i) {
  const bool last = i + 1 == steps.size();
  if (last ? ControllerChoice::wanted(steps[i].config) : steps[i + 2].done()) return;
  if (last)
    fs::remove(ControllerChoice::file_of(job));
  else if (fs::exists(bundle_of(job)) && ControllerChoice::made_of(job, steps[i].folder))
    return;  // it was the last round before this job was resumed with more
  publish(read_file(bundle_of(steps[i].folder)), job);
}

/// Whether there is an evaluation, of as many episodes and dreams as are asked for now.
bool evaluated(const learner::RunFolder& job, const Config& config) {
  const json evaluation = json_in(evaluation_of(job));
  if (!evaluation.is_array()) return false;
  const ModelBasedOptions options = model_based_options().from(config);
  for (const json& entry : evaluation) {
    const auto holds = [&](const char* list, int count) {
      return entry.at(list).size() == static_cast<std::size_t>(count);
    };
    if (entry.at("kind") == "policy" && !holds("returns", options.episodes)) return false;
    if (entry.at("kind") == "dream-validity" && !holds("predicted", options.trajectories)) return false;
  }
  return true;
}

/// The steps of a fit that is done, which may be a few more than it was asked for. The next round collects
/// further ones beside them.
std::uint64_t steps_of(const ModelBasedStep& fit) {
  return json_in(fit.folder.summary()).at("steps").get<std::uint64_t>();
}

}  // namespace

bool ModelBasedStep::done() const {
  const json summary = json_in(folder.summary());
  return summary.is_object() && summary.value("finished", false);
}

std::vector<ModelBasedStep> model_based_steps(const learner::RunFolder& job, const Config& config,
                                              std::int64_t actors) {
  check(config, actors);
  const auto set = [](Config& changed, const std::string& key, const std::string& value) {
    changed.set(key + "=" + value);
  };
  const ModelBasedOptions options = model_based_options().from(config);
  std::vector<ModelBasedStep> steps;
  for (std::int64_t round = 1; round <= options.rounds; ++round) {
    const fs::path root = job.root / round_name(round);
    ModelBasedStep fit{round_name(round) + "/fit", {root / "fit"}, config, false};
    set(fit.config, "train.phase", "world-model");
    if (round > 1) {
      const learner::RunFolder &fitted = steps[steps.size() - 2].folder, &dreamt = steps.back().folder;
      set(fit.config, "world.collect_steps",
          std::to_string(config.integer("world.collect_steps") + (round - 1) * options.further_steps));
      set(fit.config, "world.rollouts", learner::WorldFolder(fitted).rollouts().string());
      set(fit.config, "world.policy", bundle_of(dreamt).string());
    }
    ModelBasedStep dream{round_name(round) + "/dream", {root / "dream"}, config, true};
    set(dream.config, "train.phase", "dream");
    set(dream.config, "dream.world", learner::WorldFolder(fit.folder).model().string());
    set(dream.config, "actors.dream", std::to_string(actors));
    set(dream.config, "actors.count", "0");
    if (ControllerChoice::wanted(config))
      set(dream.config, "train.export_every",
          std::to_string(controller_choice_options().from(config).check_every));
    steps.push_back(std::move(fit));
    steps.push_back(std::move(dream));
  }
  return steps;
}

int run_model_based(const learner::RunFolder& job, Config config, bool resume, ProcessGroup& group) {
  std::vector<ModelBasedStep> steps = model_based_steps(job, config, group.actors(config).all());
  check_job(job, config, group.actors(config));
  const ModelBasedOptions options = model_based_options().from(config);
  check_rounds(job, options.rounds);
  const PreparedRun prepared = prepare(job, std::move(config), resume);
  const bool chooses = ControllerChoice::wanted(prepared.config);
  const std::size_t all = steps.size() + (chooses ? 2 : 1);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    ModelBasedStep& step = steps[i];
    if (!step.dreams && i >= 2)
      step.config.set(
          "world.collect_steps=" +
          std::to_string(steps_of(steps[i - 2]) + static_cast<std::uint64_t>(options.further_steps)));
    announce(i + 1, all, step.name, step.done());
    if (step.done()) {
      tell_differences(step);
    } else {
      const PreparedRun run = prepare_step(step.folder, step.config);
      if (const int code = group.run(step.folder); code != 0) return code;
      if (group.asked_to_stop() || !step.done()) return stopped(job, steps);
    }
    if (step.dreams) publish_last(job, steps, i);
  }
  if (chooses) {
    const learner::RunFolder& dream = steps.back().folder;
    announce(all - 1, all, "choice", ControllerChoice(job, dream, prepared.config).made());
    const std::optional<int> code = choose(job, prepared.config, dream);
    if (!code) return stopped(job, steps);
    if (*code != 0) return *code;
  }
  announce(all, all, "evaluation", evaluated(job, prepared.config));
  if (!evaluated(job, prepared.config)) {
    fs::remove(evaluation_of(job));
    if (const int code = evaluate(job, prepared.config).code; code != 0) return code;
    if (!fs::exists(evaluation_of(job))) return stopped(job, steps);
  }
  write_summary(job, steps);
  std::printf("controller and world model: %s\n", bundle_of(job).c_str());
  if (chooses) std::printf("choice: %s\n", ControllerChoice::file_of(job).c_str());
  std::printf("evaluation: %s\n", evaluation_of(job).c_str());
  return kDone;
}

}
