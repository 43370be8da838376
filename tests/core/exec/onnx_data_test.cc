// The models of ONNX's own test data (its PyPI package, unpacked by launch/setup.sh): each comes through
// unharmed, and again after clean-up and some rewrites; ONNX's own checker accepts what is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "core/exec/inputs/find_meanings.h"
#include "core/exec/inputs/user_inputs.h"
#include "core/exec/rewrite_fuzzing/random_walk.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/site/site_check.h"
#include "core/graph/constants.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "core/onnx/model_builder.h"
#include "support/dead_nodes.h"
#include "support/onnx_checker.h"
#include "support/validate.h"

namespace regraft::exec {
namespace {

namespace fs = std::filesystem;
using rewrite_fuzzing::Walk;
using rewrite_fuzzing::WalkOutcome;
using rewrite_fuzzing::WalkPlan;

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
    graph::validate(model.graph());
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

class OnnxChecker : public ::testing::Test {
 protected:
  static void expect_accepted(const std::vector<fs::path>& models) {
    const auto complaints = regraft::testing::onnx_complaints(prefix(), models);
    if (!complaints) GTEST_SKIP() << "no ONNX for Python in " << prefix() << ": run launch/setup.sh";
    for (std::size_t i = 0; i < models.size(); ++i) EXPECT_EQ(complaints->at(i), "") << models[i];
  }

  TempDir folder_;
};

TEST_F(OnnxChecker, AcceptsWhatIsWritten) {
  const rules::RuleSet rules =
      rules::RuleSet::load(fs::path(REGRAFT_SOURCE_DIR) / "configs/rules", rules::RuleStatus::tested);
  std::vector<fs::path> written;
  const auto write = [&](const fs::path& model, std::uint64_t seed) {
    const fs::path own = folder_.path() / std::to_string(seed);
    fs::create_directory(own);
    WalkPlan plan;
    plan.seed = seed;
    plan.site_percent = 0;
    const WalkOutcome outcome = Walk(model, rules, plan, own).run();
    if (outcome.failure.empty() && outcome.not_runnable.empty()) written.push_back(own / "rewritten.onnx");
  };
  std::uint64_t seed = 0;
  for (const char* group : {"pytorch-converted", "pytorch-operator"})
    for (const fs::path& model : models_of(group))
      if (++seed % 4 == 0) write(model, seed);
  ASSERT_GT(written.size(), 10u);
  expect_accepted(written);
}

/// x times two weights of each rank from 0 to 2; until IR 4 a weight is an input as well.
std::string products(std::int64_t ir, std::int64_t opset) {
  onnx::test::ModelBuilder builder(opset, ir);
  builder.input("x", {"4", "8"}).output("y", {"4", "8"});
  const std::vector<onnx::test::Shape> shapes{{}, {"8"}, {"4", "8"}};
  std::string last = "x";
  for (const onnx::test::Shape& shape : shapes)
    for (const char* which : {"a", "b"}) {
      const std::string name = which + std::to_string(shape.size());
      std::vector<std::int64_t> dims;
      for (const std::string& dim : shape) dims.push_back(std::stoll(dim));
      builder.floats(name, dims);
      if (ir < 4) builder.input(name, shape);
      const std::string product = name == "b2" ? "y" : "times_" + name;
      builder.node("Mul", {last, name}, {product});
      last = product;
    }
  return builder.bytes();
}

/// The same with one weight of each rank, and constants that some opsets write as inputs.
graph::Graph folded(const onnx::ImportedModel& model) {
  graph::Graph graph = model.graph();
  const auto weight_of = [&](const std::string& product) {
    return graph.weight_of(graph.node(onnx::test::find_node(model, product)).inputs[1]);
  };
  graph::Value last = graph.node(onnx::test::find_node(model, "times_a0")).inputs[0];
  const auto add = [&](graph::OpKind kind, const graph::AttrBlock& attrs, std::vector<graph::Value> inputs) {
    last = {graph.add(kind, graph.tables().intern(attrs), inputs), 0};
  };
  for (const char* rank : {"0", "1", "2"}) {
    const bool is_last = *rank == '2';
    const graph::WeightId factors[] = {weight_of(std::string("times_a") + rank),
                                       weight_of(is_last ? "y" : std::string("times_b") + rank)};
    const graph::WeightId product = graph::constant_operation(
        graph.tables(), graph::OpKind::mul, graph.tables().intern(graph::AttrBlock{}), factors);
    add(graph::OpKind::mul, {}, {last, graph.weight_value(product)});
  }
  graph::AttrBlock limits, shape;
  limits.set(graph::Attr::min, -1.0);
  limits.set(graph::Attr::max, 1.0);
  shape.set(graph::Attr::shape, graph::Ints{4, 8});
  add(graph::OpKind::clip, limits, {last});
  add(graph::OpKind::reshape, shape, {last});
  graph.set_output(0, last);
  remove_all_dead(graph);
  return graph;
}

TEST_F(OnnxChecker, AcceptsNewConstantsInEachVersion) {
  std::vector<fs::path> written;
  for (std::int64_t ir = 3; ir <= 10; ++ir)
    for (std::int64_t opset = 7; opset <= 22; ++opset) {
      const std::string bytes = products(ir, opset);
      const onnx::ImportedModel model = onnx::test::import_text(bytes);
      written.push_back(folder_.path() / ("ir" + std::to_string(ir) + "_" + std::to_string(opset) + ".onnx"));
      onnx::export_model(model, folded(model), written.back());
    }
  expect_accepted(written);
}

}  // namespace
}
