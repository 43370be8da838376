#include "launch/evaluate/controller_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/rng.h"
#include "core/base/sha256.h"
#include "core/base/stats.h"
#include "core/nn/model/controller_file.h"
#include "core/task/workload.h"
#include "launch/evaluate/controller_validity.h"
#include "launch/policy/controller_bundle.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Null where there is no such file.
json json_in(const fs::path& path) {
  return fs::exists(path) ? json::parse(read_file(path), nullptr, false) : json();
}

std::string name_of(const learner::RunFolder& job, const learner::RunFolder& dream) {
  return dream.root.lexically_relative(job.root).generic_string();
}

/// JSON has null for what is no number.
double number_in(const json& item, const char* key) {
  const json& value = item.at(key);
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

json to_json(const CheckedController& checked) {
  return {{"update", checked.update},
          {"predicted", checked.predicted},
          {"real", checked.real},
          {"mean_error", checked.mean_error},
          {"illegal_share", checked.illegal_share},
          {"real_steps", checked.real_steps},
          {"costed", checked.costed},
          {"bundle", checked.bundle}};
}

CheckedController checked_in(const json& item) {
  return {.update = item.at("update"),
          .predicted = number_in(item, "predicted"),
          .real = number_in(item, "real"),
          .mean_error = number_in(item, "mean_error"),
          .illegal_share = number_in(item, "illegal_share"),
          .real_steps = item.at("real_steps"),
          .costed = item.at("costed"),
          .bundle = item.at("bundle")};
}

/// Sums over all of them.
std::pair<std::uint64_t, std::uint64_t> steps_and_costed(std::span<const CheckedController> all) {
  std::pair<std::uint64_t, std::uint64_t> sums{0, 0};
  for (const CheckedController& each : all) {
    sums.first += each.real_steps;
    sums.second += each.costed;
  }
  return sums;
}

/// What is no number is farthest from the truth.
double error_of(const CheckedController& checked) {
  return std::isnan(checked.mean_error) ? std::numeric_limits<double>::infinity() : checked.mean_error;
}

}  // namespace

CheckedController checked_controller(std::uint64_t update, std::span<const replay::DreamValidity> by_model) {
  CheckedController checked{.update = update};
  const auto models = static_cast<double>(by_model.size());
  for (const replay::DreamValidity& validity : by_model) {
    checked.predicted += mean(validity.predicted) / models;
    checked.real += mean(validity.real) / models;
    checked.mean_error += validity.mean_error / models;
    checked.illegal_share += validity.illegal_share / models;
    checked.real_steps += validity.real_steps;
    checked.costed += validity.costed;
  }
  return checked;
}

ChosenController choose_controller(std::span<const CheckedController> checked, double trust) {
  ChosenController chosen;
  for (std::size_t i = 0; i < checked.size(); ++i) {
    const CheckedController &best = checked[chosen.index], &next = checked[i];
    const bool within_trust = error_of(next) <= trust;
    const bool better = within_trust == chosen.within_trust
                            ? (within_trust ? next.real >= best.real : error_of(next) <= error_of(best))
                            : within_trust;
    if (better) chosen = {i, within_trust};
  }
  return chosen;
}

nn::WorldBundle with_checks(nn::WorldBundle bundle, std::uint64_t real_steps, std::uint64_t costed) {
  nn::ControllerFile file = nn::decode_controller(bundle.controller, "bundle");
  json record = json::parse(file.training_record);
  record["checks"] = {{"real_steps", real_steps}, {"candidates", costed}};
  file.training_record = record.dump();
  bundle.controller = nn::encode_controller(file);
  return bundle;
}

fs::path ControllerChoice::file_of(const learner::RunFolder& job) {
  return job.root / "choice.json";
}

bool ControllerChoice::wanted(const Config& config) {
  return controller_choice_options().from(config).check_every > 0;
}

bool ControllerChoice::made_of(const learner::RunFolder& job, const learner::RunFolder& dream) {
  const json file = json_in(file_of(job));
  return file.is_object() && file.contains("chosen") && file.value("dream", json()) == name_of(job, dream);
}

ControllerChoice::ControllerChoice(learner::RunFolder job, learner::RunFolder dream, Config config)
    : job_(std::move(job)),
      dream_(std::move(dream)),
      config_(std::move(config)),
      options_(controller_choice_options().from(config_)) {
  const json file = json_in(file_of(job_));
  try {
    if (!file.is_object() || file.at("dream") != name_of(job_, dream_) ||
        file.at("dreams") != options_.dreams_per_check || file.at("tau") != config_.number("dream.tau"))
      return;
    const std::vector<Exported> bundles = exported();
    for (const json& item : file.at("checked")) {
      const CheckedController found = checked_in(item);
      const auto of = std::ranges::find(bundles, found.update, &Exported::update);
      if (of != bundles.end() && sha256_file(of->file) == found.bundle) checked_.push_back(found);
    }
  } catch (const json::exception&) {  // not ours: all is checked anew
    checked_.clear();
  }
}

/// Those of every so many updates that have a file, and the last one.
std::vector<ControllerChoice::Exported> ControllerChoice::exported() const {
  const auto last = json_in(dream_.summary()).at("updates").get<std::uint64_t>();
  const auto every = static_cast<std::uint64_t>(options_.check_every);
  std::vector<Exported> all;
  for (std::uint64_t update = every; update < last; update += every) {
    const fs::path file = dream_.policies() / ("update-" + std::to_string(update) + ".world");
    if (fs::exists(file)) all.push_back({update, file});
  }
  all.push_back({last, dream_.policies() / "latest.world"});
  return all;
}

bool ControllerChoice::checked(std::uint64_t update) const {
  return std::ranges::count(checked_, update, &CheckedController::update) > 0;
}

bool ControllerChoice::all_checked() const {
  return std::ranges::all_of(exported(), [&](const Exported& each) { return checked(each.update); });
}

bool ControllerChoice::made() const {
  const json file = json_in(file_of(job_));
  return all_checked() && file.is_object() && file.value("chosen", json()) == chosen_json() &&
         file.at("checked").size() == checked_.size();
}

void ControllerChoice::check_rest(const std::function<void(const CheckedController&)>& report) {
  const task::WorkloadOptions workload = task::workload_options_from(config_);
  std::vector<std::unique_ptr<task::Task>> tasks;
  for (std::size_t model = 0; model < workload.models.size(); ++model)
    tasks.push_back(task::load_task(workload, model));
  // The evaluation draws from train.seed itself: it is not of the episodes that chose.
  const std::uint64_t seed =
      Rng(static_cast<std::uint64_t>(config_.integer("train.seed")), "choice of a controller").next();
  for (const Exported& each : exported()) {
    if (checked(each.update)) continue;
    const nn::WorldBundle bundle = load_controller_bundle(each.file, tasks.front()->rules());
    std::vector<replay::DreamValidity> by_model;
    for (const auto& task : tasks)
      by_model.push_back(validity_of(bundle, *task, workload, config_, options_.dreams_per_check, seed));
    CheckedController figures = checked_controller(each.update, by_model);
    figures.bundle = sha256_file(each.file);
    checked_.push_back(figures);
    std::ranges::sort(checked_, {}, &CheckedController::update);
    write({});
    report(figures);
  }
}

ChosenController ControllerChoice::rule() const {
  return choose_controller(checked_, options_.trust);
}

const CheckedController& ControllerChoice::chosen() const {
  return checked_.at(rule().index);
}

bool ControllerChoice::within_trust() const {
  return rule().within_trust;
}

json ControllerChoice::chosen_json() const {
  return {{"update", chosen().update},
          {"why", within_trust() ? "believed" : "least error"},
          {"trust", options_.trust}};
}

nn::WorldBundle ControllerChoice::kept() const {
  const std::vector<Exported> all = exported();
  const auto file = std::ranges::find(all, chosen().update, &Exported::update);
  const auto [real_steps, costed] = steps_and_costed(checked_);
  return with_checks(nn::load_bundle(file->file), real_steps, costed);
}

void ControllerChoice::write(const json& chosen) const {
  const auto [real_steps, costed] = steps_and_costed(checked_);
  json file{{"dream", name_of(job_, dream_)},     {"dreams", options_.dreams_per_check},
            {"tau", config_.number("dream.tau")}, {"checked", json::array()},
            {"real_steps", real_steps},           {"costed", costed}};
  for (const CheckedController& each : checked_) file["checked"].push_back(to_json(each));
  if (chosen.is_object()) file["chosen"] = chosen;
  write_file_atomic(file_of(job_), file.dump(2) + "\n");
}

void ControllerChoice::save() const {
  write(chosen_json());
}

json ControllerChoice::summary() const {
  const auto [real_steps, costed] = steps_and_costed(checked_);
  json all = to_json(chosen());
  all.erase("bundle");
  all.update(chosen_json());
  all.update({{"controllers", checked_.size()}, {"real_steps", real_steps}, {"costed", costed}});
  return all;
}

}
