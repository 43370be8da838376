#include "launch/experiment/plan.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "core/base/hash.h"

namespace regraft::launch {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

const std::string* find_value(const Values& values, const std::string& key) {
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const auto& each) { return each.first == key; });
  return found == values.end() ? nullptr : &found->second;
}

/// True where the two give no key different values.
bool agree(const Values& a, const Values& b) {
  return std::all_of(a.begin(), a.end(), [&](const auto& each) {
    const std::string* other = find_value(b, each.first);
    return other == nullptr || *other == each.second;
  });
}

std::vector<Values> combinations(const ExperimentSpec& spec, const ExperimentStep& step) {
  std::vector<Values> all{{}};
  for (const std::string& key : step.over) {
    const auto only = std::ranges::find(step.only, key, [](const auto& each) { return each.first; });
    const auto wanted = [&](const std::string& value) {
      return only == step.only.end() || std::ranges::find(only->second, value) != only->second.end();
    };
    const auto varied = std::find_if(spec.matrix.begin(), spec.matrix.end(),
                                     [&](const auto& each) { return each.first == key; });
    std::vector<Values> longer;
    for (const Values& values : all) {
      for (const std::string& value : varied->second) {
        if (!wanted(value)) continue;
        longer.push_back(values);
        longer.back().emplace_back(key, value);
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// A file name of any value: what is neither letter, digit, dot, dash nor underscore becomes an underscore.
std::string folder_name(const Values& values) {
  std::string name;
  for (const auto& [key, value] : values) {
    name += (name.empty() ? "" : ",") + key + "=";
    for (const char c : value)
      name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' ? c : '_';
  }
  return name.empty() ? "once" : name;
}

/// Replaces the placeholders of one step's arguments for one combination of values.
class Filler {
 public:
  Filler(const ExperimentSpec& spec, const std::vector<PlannedRun>& earlier, const PlannedRun& run)
      : spec_(spec), earlier_(earlier), run_(run) {}

  std::vector<std::string> fill(const std::vector<std::string>& arguments) {
    std::vector<std::string> filled;
    for (const std::string& argument : arguments) {
      const std::size_t all = argument.find("{all:");
      if (all == std::string::npos) {
        filled.push_back(replace(argument));
        continue;
      }
      const std::size_t end = argument.find('}', all);
      if (end == std::string::npos) fail(argument, "has no closing brace");
      const std::string step = argument.substr(all + 5, end - all - 5);
      for (const PlannedRun& other : runs_of(step, argument))
        filled.push_back(replace(argument.substr(0, all)) + other.folder.string() +
                         replace(argument.substr(end + 1)));
    }
    return filled;
  }

  /// The earlier runs that were named so far.
  std::vector<std::size_t> inputs() const { return {inputs_.begin(), inputs_.end()}; }

 private:
  std::string replace(const std::string& text) {
    std::string filled;
    for (std::size_t at = 0; at < text.size();) {
      const bool named = at + 1 < text.size() && std::isalpha(static_cast<unsigned char>(text[at + 1])) != 0;
      if (text[at] != '{' || !named) {
        filled += text[at++];
        continue;
      }
      const std::size_t end = text.find('}', at);
      if (end == std::string::npos) fail(text, "has no closing brace");
      filled += meaning(text.substr(at + 1, end - at - 1), text);
      at = end + 1;
    }
    return filled;
  }

  std::string meaning(const std::string& name, const std::string& argument) {
    if (name == "out") return run_.folder.string();
    if (const std::string* value = find_value(run_.values, name)) return *value;
    if (const auto value = spec_.values.find(name); value != spec_.values.end()) return value->second;
    const std::vector<PlannedRun> runs = runs_of(name, argument);
    if (runs.size() != 1)
      fail(argument, "means " + std::to_string(runs.size()) + " runs of step '" + name +
                         "': write {all:" + name + "}, or go over the same keys");
    return runs.front().folder.string();
  }

  std::vector<PlannedRun> runs_of(const std::string& step, const std::string& argument) {
    std::vector<PlannedRun> runs;
    for (std::size_t i = 0; i < earlier_.size(); ++i) {
      const PlannedRun& other = earlier_[i];
      if (spec_.steps[other.step].name != step || !agree(other.values, run_.values)) continue;
      runs.push_back(other);
      inputs_.insert(i);
    }
    if (runs.empty())
      fail(argument, "names '" + step + "', which is no value that this step goes over and no earlier step");
    return runs;
  }

  [[noreturn]] void fail(const std::string& argument, const std::string& problem) const {
    throw ExperimentError("the argument '" + argument + "' " + problem,
                          "experiment " + spec_.name + ", step " + spec_.steps[run_.step].name,
                          "placeholders are {out}, {KEY}, {STEP} and {all:STEP}");
  }

  const ExperimentSpec& spec_;
  const std::vector<PlannedRun>& earlier_;
  const PlannedRun& run_;
  std::set<std::size_t> inputs_;
};

/// One folder for all runs of one command, whichever experiment they are of.
std::filesystem::path shared_folder(const ExperimentSpec& spec, const std::vector<PlannedRun>& earlier,
                                    PlannedRun run, const std::filesystem::path& out) {
  const ExperimentStep& step = spec.steps[run.step];
  run.folder = "";
  std::string command;
  for (const std::string& argument : Filler(spec, earlier, run).fill(step.run)) command += argument + '\n';
  return out.parent_path() / "shared" / (step.name + "-" + hash_text(command).hex().substr(0, 16));
}

}  // namespace

std::string PlannedRun::label(const ExperimentSpec& spec) const {
  std::string text = spec.steps[step].name;
  for (const auto& [key, value] : values) text += " " + key + "=" + value;
  return text;
}

std::vector<PlannedRun> plan_runs(const ExperimentSpec& spec, const std::filesystem::path& out) {
  std::vector<PlannedRun> runs;
  for (std::size_t step = 0; step < spec.steps.size(); ++step) {
    for (Values& values : combinations(spec, spec.steps[step])) {
      PlannedRun run;
      run.step = step;
      run.folder = out / "runs" / spec.steps[step].name / folder_name(values);
      run.values = std::move(values);
      if (spec.steps[step].shared) run.folder = shared_folder(spec, runs, run, out);
      Filler filler(spec, runs, run);
      run.arguments = filler.fill(spec.steps[step].run);
      run.inputs = filler.inputs();
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

}  // namespace regraft::launch
