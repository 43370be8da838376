// The configs that ship mean what their names say to the program of today.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/atomic_file.h"
#include "core/env/synthetic.h"
#include "core/task/workload.h"
#include "launch/job/config_warnings.h"
#include "launch/job/job_config.h"
#include "launch/program.h"
#include "learner/controller/dream_options.h"
#include "learner/ppo/network_options.h"
#include "learner/world/world_options.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const fs::path kConfigs = fs::path(REGRAFT_SOURCE_DIR) / "configs";

// The config of each run of earlier versions has it.
TEST(Configs, AFormerKeyNamesThePresentOne) {
  const auto refusal = [](const std::string& setting) {
    try {
      load_job_config({}, {setting});
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  EXPECT_THAT(refusal("workload.everywhere=true"),
              AllOf(HasSubstr("is called 'workload.action_mode' now"), HasSubstr("all_sites")));
  for (const auto& [former, present] :
       {std::pair{"ppo.lr", "ppo.learning_rate"}, std::pair{"world.lr_power", "world.learning_rate_power"},
        std::pair{"world.trials", "world.random_choices"},
        std::pair{"workload.weight_latency", "workload.reward_weight_latency"},
        std::pair{"workload.measure_every", "workload.reward_measure_every"},
        std::pair{"model_based.check_dreams", "model_based.dreams_per_check"}})
    EXPECT_THAT(refusal(former + std::string("=1")),
                HasSubstr("is called '" + std::string(present) + "' now"));
}

// It is read without its name beside it: "of the LSTM" says nothing.
TEST(Configs, EachHelpTextSaysWhatItsKeyIs) {
  const OptionTable options = job_options();
  for (const regraft::Option& option : options.options()) {
    EXPECT_FALSE(option.help().empty()) << option.name();
    EXPECT_FALSE(option.help().starts_with("of ")) << option.name() << ": " << option.help();
  }
}

TEST(Configs, AllAreReadAndEveryKeyIsKnown) {
  std::size_t read = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(kConfigs)) {
    if (entry.path().extension() != ".toml") continue;
    ++read;
    EXPECT_NO_THROW(load_job_config(entry.path(), {})) << entry.path();
  }
  EXPECT_GE(read, 8u);
}

TEST(Configs, PresetsAreFoundFromAnyFolder) {
  const TempDir elsewhere;
  const fs::path before = fs::current_path();
  fs::current_path(elsewhere.path());
  const Config preset = load_job_config("configs/dream.toml", {});
  std::string error;
  try {
    load_job_config("configs/draem.toml", {});
  } catch (const UsageError& refused) {
    error = refused.what();
  }
  fs::current_path(before);
  EXPECT_EQ(preset.text("train.phase"), "dream");
  EXPECT_THAT(error, AllOf(HasSubstr("configs/draem.toml"), HasSubstr("no such file")));
}

// One command does what the two presets do one after the other: what is tuned there holds here.
TEST(Configs, TheModelBasedPresetHasTheSettingsOfItsTwoHalves) {
  const Config whole = load_job_config(kConfigs / "model-based.toml", {});
  EXPECT_EQ(whole.text("train.phase"), "model-based");
  const auto differing = [&](const char* preset, const std::vector<std::string>& tables) {
    std::vector<std::string> names;
    for (const ConfigDifference& difference : differences(whole, load_job_config(kConfigs / preset, {})))
      for (const std::string& table : tables)
        if (difference.name.starts_with(table)) names.push_back(difference.name);
    return names;
  };
  EXPECT_EQ(differing("world-model.toml", {"workload.", "world."}),
            (std::vector<std::string>{"world.on_policy"}));
  EXPECT_EQ(differing("dream.toml",
                      {"workload.", "dream.", "ppo.", "train.updates", "train.steps_per_update", "wire."}),
            std::vector<std::string>{});
}

// One key: a dream and the real environments beside it pay the same for an action that is not legal.
TEST(Configs, DreamsAndRealEnvironmentsHaveOnePenalty) {
  for (const double penalty : {0.0, 0.05, 0.75}) {
    const Config config = load_job_config(
        std::nullopt, penalty == 0.05 ? std::vector<std::string>{}
                                      : std::vector{"workload.invalid_penalty=" + std::to_string(penalty)});
    const env::EnvOptions real = task::workload_options_from(config).environment;
    EXPECT_EQ(real.invalid_penalty, penalty);
    EXPECT_EQ(learner::dream_of(learner::dream_options_from(config)).invalid_penalty, penalty);
    const env::SyntheticTask task = env::make_synthetic_task({.chains = 4, .locked = 1, .valley = 1});
    const rules::RuleSet rules = env::make_synthetic_rules(1);
    const env::TableCostFactory costs = env::make_synthetic_costs(1);
    const SystemClock clock;
    env::Environment environment(*task.start, rules, costs, real, clock);
    EXPECT_EQ(environment.step({.rule = environment.noop() + 1}).reward, -penalty);
  }
  EXPECT_THROW(load_job_config(std::nullopt, {"workload.invalid_penalty=-1"}), ConfigError);
}

TEST(Configs, DreamsAndRealEnvironmentsEndAtTheHorizonAlike) {
  for (const auto& [text, mode] : std::map<std::string, env::HorizonMode>{
           {"terminate", env::HorizonMode::terminate}, {"truncate", env::HorizonMode::truncate}}) {
    const Config config = load_job_config(std::nullopt, {"workload.horizon_mode=" + text});
    EXPECT_EQ(task::workload_options_from(config).environment.horizon_mode, mode);
    EXPECT_EQ(learner::dream_of(learner::dream_options_from(config)).horizon_mode, mode);
  }
}

// The table of the dissertation's settings at the places where this program keeps them.
TEST(Configs, SeedsAreTheDissertationsSettings) {
  const Config free = load_job_config(kConfigs / "seeds.toml", {});
  const auto network = learner::network_config(learner::network_options().from(free), 1, 1);
  EXPECT_EQ(network.head, nn::Head::hierarchical);
  EXPECT_EQ(network.width, 8u);
  EXPECT_EQ(network.steps, 2u);
  EXPECT_EQ(network.head_width, 32u);
  EXPECT_EQ(free.integer("workload.locations"), 200);
  EXPECT_EQ(free.integer("train.episodes_per_update") * free.integer("train.updates"), 2000);
  for (const auto& [key, value] : std::map<std::string, double>{
           {"ppo.learning_rate", 2.5e-3},
           {"ppo.value_learning_rate", 1e-2},
           {"ppo.gamma", 0.99},
           {"ppo.lambda", 0.97},
           {"ppo.clip", 0.3},
       })
    EXPECT_EQ(free.number(key), value) << key;

  const Config world = load_job_config(kConfigs / "seeds-world-model.toml", {});
  EXPECT_EQ(world.text("train.phase"), "world-model");
  const learner::WorldOptions fit = learner::world_options_from(world);
  EXPECT_EQ(fit.noop, 0.2);
  EXPECT_EQ(fit.random_choices, 1u);
  EXPECT_EQ(fit.latent, 32u);
  EXPECT_EQ(fit.hidden, 256u);
  EXPECT_EQ(fit.mixtures, 8u);
  EXPECT_EQ(fit.learning_rate, 8e-3);
  EXPECT_EQ(fit.final_learning_rate, 2e-4);
  EXPECT_EQ(fit.learning_rate_power, 2);
  EXPECT_EQ(fit.lanes, 10u);
  EXPECT_FALSE(fit.packed) << "a batch is of 10 episodes";
  EXPECT_EQ(fit.dynamics_updates, 2000u);

  const Config dream = load_job_config(kConfigs / "seeds-dream.toml", {});
  EXPECT_EQ(dream.text("train.phase"), "dream");
  EXPECT_EQ(dream.integer("train.steps_per_update"), 0);
  EXPECT_EQ(dream.integer("train.episodes_per_update"), 10);
  EXPECT_EQ(dream.integer("train.updates"), 100);
  EXPECT_EQ(learner::dream_options_from(dream).replicas, 10u);
  for (const auto& [key, value] : std::map<std::string, double>{
           {"ppo.learning_rate", 1e-3}, {"ppo.gamma", 0.99}, {"ppo.lambda", 1}, {"ppo.clip", 0.2}})
    EXPECT_EQ(dream.number(key), value) << key;
}

// An experiment that compares rewards compares different ones.
TEST(Configs, NoExperimentTrainsByADetailedRewardThatIsTheIncrementalOne) {
  std::size_t detailed = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(kConfigs / "experiments")) {
    if (entry.path().extension() != ".toml") continue;
    const Captured plan = testing::run({"experiment", entry.path().string(), "--plan"});
    ASSERT_EQ(plan.status.code, 0) << plan.errors;
    std::istringstream runs(plan.output);
    for (std::string run; std::getline(runs, run);) {
      std::istringstream words(run);
      std::vector<std::string> settings;
      for (std::string word, before; words >> word; before = word)
        if (before == "--set" && word.starts_with("workload.")) settings.push_back(word);
      if (std::ranges::find(settings, "workload.reward=detailed") == settings.end()) continue;
      ++detailed;
      EXPECT_TRUE(config_warnings(load_job_config(std::nullopt, settings)).warnings.empty()) << entry.path();
    }
  }
  EXPECT_GT(detailed, 0u);
}

// A folder here with the same name is somebody else's; it has to be named as such.
TEST(Configs, AreTheProgramsOwnWhereverItIsCalled) {
  const TempDir dir;
  fs::create_directories(dir.path() / "configs/rules");
  write_file_atomic(dir.path() / "configs/rules/a.rules",
                    std::string_view("[own]\nmine: Relu(Relu(x)) => Relu(x)\n"));
  const auto list = [&](std::vector<std::string> options) {
    SpawnOptions spawn;
    spawn.argv = {testing::program(), "rules", "list"};
    spawn.argv.insert(spawn.argv.end(), options.begin(), options.end());
    spawn.working_folder = dir.path();
    return capture_output(spawn, std::chrono::minutes(2));
  };
  const Captured own = list({});
  EXPECT_THAT(own.output, AllOf(HasSubstr("conv-bn"), Not(HasSubstr("mine")))) << own.errors;
  EXPECT_THAT(own.errors, HasSubstr("write ./configs/rules"));
  const Captured here = list({"--rules", "./configs/rules"});
  EXPECT_THAT(here.output, AllOf(HasSubstr("mine"), Not(HasSubstr("conv-bn")))) << here.errors;
  EXPECT_EQ(here.errors, "");
}

}  // namespace
}
