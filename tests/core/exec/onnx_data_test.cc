// The models of ONNX's own test data (its PyPI package, unpacked by launch/setup.sh): each comes through
// unharmed, and again after clean-up and some rewrites; ONNX's own checker accepts what is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "core/base/process.h"
#include "core/exec/exec_error.h"
#include "core/exec/find_meanings.h"
#include "core/exec/oracle.h"
#include "core/exec/user_inputs.h"
#include "core/exec/walks/random_walk.h"

namespace regraft::exec {
namespace {

namespace fs = std::filesystem;
using walks::Walk;
using walks::WalkOutcome;
using walks::WalkPlan;

fs::path prefix() {
  return REGRAFT_ONNX_PREFIX;
}

std::vector<fs::path> models_of(const std::string& group) {
  std::vector<fs::path> models;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(prefix() / "onnx/backend/test/data" / group, missing)) {
    if (entry.path().extension() == ".onnx") models.push_back(entry.path());
    if (fs::exists(entry.path() / "model.onnx")) models.push_back(entry.path() / "model.onnx");
  }
  std::sort(models.begin(), models.end());
  return models;
}

class OnnxData : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    models_ = models_of(GetParam());
    if (models_.empty()) GTEST_SKIP() << "no test data in " << prefix() << ": run launch/setup.sh";
    set_oracle_threads(1);
  }

  /// The outputs on the data set that comes with the model, or on random inputs.
  static std::vector<Tensor> outputs(const fs::path& model, const fs::path& data) {
    OrtSession session(model, {Optimisation::none, 1, {}});
    Rng rng(1, "onnx data");
    const SymbolSizes none;
    if (!fs::exists(data))
      return session.run(RandomInputs(find_meanings(model)).draw(session.inputs(), none, rng));
    return session.run(UserInputs::load(std::vector{data}).draw(session.inputs(), none, rng));
  }

  std::vector<fs::path> models_;
  TempDir folder_;
};

TEST_P(OnnxData, ComesThroughUnharmed) {
  std::size_t same_bytes = 0, run = 0;
  for (const fs::path& path : models_) {
    const onnx::ImportedModel model = onnx::import_model(path);
    model.graph().validate();
    const fs::path out = folder_.path() / "out.onnx";
    onnx::export_model(model, model.graph(), out);
    if (read_file(out) == read_file(path)) {
      ++same_bytes;
      continue;
    }
    try {
      const fs::path data = path.parent_path() / "test_data_set_0";
      const std::vector<Tensor> before = outputs(path, data);
      EXPECT_EQ(before, outputs(out, data)) << path;
      ++run;
    } catch (const ExecError& error) {
      std::cout << path << " cannot be run: " << error.what() << "\n";
    }
  }
  std::cout << models_.size() << " models, " << same_bytes << " written back to the byte, " << run
            << " compared in the runtime\n";
}

TEST_P(OnnxData, KeepsItsMeaningUnderRewrites) {
  const rules::RuleSet rules =
      rules::RuleSet::load(fs::path(REGRAFT_SOURCE_DIR) / "configs/rules", rules::RuleStatus::tested);
  int rewrites = 0, not_runnable = 0;
  for (const fs::path& path : models_) {
    // What ONNX Runtime is seen to compute differently each time, or not at all, proves nothing.
    const std::string name = path.parent_path().filename().string();
    if (name.find("bernoulli") != std::string::npos || name.find("random") != std::string::npos) continue;
    WalkPlan plan;
    plan.seed = 1;
    plan.steps = 15;
    plan.site_percent = 20;
    // Constant weights: channels are equal and huge, and a rounding before the last Softmax shows.
    if (std::string(GetParam()) == "light") plan.tolerance = 0.1;
    const WalkOutcome outcome = Walk(path, rules, plan, folder_.path()).run();
    rewrites += outcome.rewrites;
    not_runnable += !outcome.not_runnable.empty();
    EXPECT_EQ(outcome.failure, "") << path;
  }
  std::cout << models_.size() << " models, " << rewrites << " rewrites, " << not_runnable
            << " that the runtime does not take on random inputs\n";
}

INSTANTIATE_TEST_SUITE_P(Groups, OnnxData,
                         ::testing::Values("simple", "light", "pytorch-operator", "pytorch-converted",
                                           "node"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// One Python for many models: paths on the command line, complaints on standard output.
constexpr const char* kChecker = R"(
import sys, onnx
for path in sys.argv[1:]:
    try:
        onnx.checker.check_model(path, full_check=True)
    except Exception as error:
        print(path, str(error).splitlines()[0])
)";

TEST(OnnxChecker, AcceptsWhatIsWritten) {
  if (!fs::exists(prefix() / "onnx/checker.py")) GTEST_SKIP() << "no " << prefix() << ": run launch/setup.sh";
  const rules::RuleSet rules =
      rules::RuleSet::load(fs::path(REGRAFT_SOURCE_DIR) / "configs/rules", rules::RuleStatus::tested);
  const TempDir folder;
  std::vector<std::string> command{"/usr/bin/python3", "-c", kChecker};
  const auto write = [&](const fs::path& model, std::uint64_t seed) {
    const fs::path own = folder.path() / std::to_string(seed);
    fs::create_directory(own);
    WalkPlan plan;
    plan.seed = seed;
    plan.site_percent = 0;
    const WalkOutcome outcome = Walk(model, rules, plan, own).run();
    if (outcome.failure.empty() && outcome.not_runnable.empty()) command.push_back(own / "rewritten.onnx");
  };
  std::uint64_t seed = 0;
  for (const char* group : {"pytorch-converted", "pytorch-operator"})
    for (const fs::path& model : models_of(group))
      if (++seed % 4 == 0) write(model, seed);
  ASSERT_GT(command.size(), 10u);
  Child probe({.argv = {"/usr/bin/python3", "-c", "import onnx"},
               .environment = {{"PYTHONPATH", prefix().string()}}});
  if (!probe.wait().ok())
    GTEST_SKIP() << "this machine's python3 cannot load the onnx package of " << prefix();
  const fs::path complaints = folder.path() / "complaints";
  Child checker({.argv = command,
                 .environment = {{"PYTHONPATH", prefix().string()}},
                 .output = Redirect::to_file(complaints)});
  EXPECT_TRUE(checker.wait().ok());
  EXPECT_EQ(fs::exists(complaints) ? read_file(complaints) : "", "");
}

}  // namespace
}  // namespace regraft::exec
