#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/exec/equivalence/compare.h"
#include "core/exec/inputs/find_meanings.h"
#include "core/exec/inputs/inputs.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/runtime/ort_session.h"
#include "core/exec/site/fragment.h"
#include "core/exec/site/oracle_cases.h"
#include "core/exec/tiny_models.h"
#include "core/exec/torch/torch_ops.h"
#include "core/onnx/import.h"

namespace regraft::exec {
namespace {

using testing::all_cases;
using testing::Case;
using testing::ModelBuilder;
using testing::TempFolder;

constexpr std::uint64_t kSeed = 11;

/// Values given from outside: graph inputs, or inner ones where a fragment is run.
using OracleInputs = std::map<graph::Value, graph::HostTensor>;

graph::HostTensor from_torch(const at::Tensor& tensor, graph::DType dtype) {
  graph::HostTensor host{dtype, tensor.sizes().vec(), {}, {}};
  if (graph::is_float(dtype)) {
    const at::Tensor flat = tensor.to(at::kDouble).contiguous();
    host.real.assign(flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
  } else {
    const at::Tensor flat = tensor.to(at::kLong).contiguous();
    host.integer.assign(flat.data_ptr<std::int64_t>(), flat.data_ptr<std::int64_t>() + flat.numel());
  }
  return host;
}

/// The graph's outputs in fp64; nothing that lies before a given value is run.
std::vector<graph::HostTensor> run_oracle(const graph::Graph& graph, const OracleInputs& inputs) {
  TorchWeights weights(graph.tables());
  Fragment fragment(graph, weights);
  for (const auto& [value, tensor] : inputs) fragment.set(value, to_torch(tensor));
  std::vector<graph::HostTensor> results;
  for (const graph::Value& output : graph.outputs())
    results.push_back(from_torch(fragment.value(output), graph.type(output).dtype));
  return results;
}

graph::HostTensor to_host(const Tensor& tensor) {
  graph::TensorType type{tensor.dtype, true, {}};
  for (const std::int64_t dim : tensor.dims) type.dims.push_back(dim);
  return graph::HostTensor::from_bytes(type, tensor.bytes);
}

/// Runs a model on random inputs in ONNX Runtime without its optimiser, and its imported graph in the oracle.
void expect_agreement(const ModelBuilder& model, double tolerance = 2e-6) {
  const TempFolder folder;
  const auto path = model.write(folder / "m.onnx");
  OrtSession session(path, {Optimisation::none, 1, {}});
  Rng rng(kSeed, "oracle test");
  const std::vector<Tensor> inputs = RandomInputs(find_meanings(path)).draw(session.inputs(), {}, rng);
  const std::vector<Tensor> expected = session.run(inputs);

  const onnx::ImportedModel imported = onnx::import_model(path);
  const graph::Graph& graph = imported.graph();
  OracleInputs given;
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
    if (!graph.alive(id)) continue;
    EXPECT_NE(graph.node(id).kind, graph::OpKind::opaque) << "imported as opaque: nothing is tested";
    if (graph.node(id).kind != graph::OpKind::input) continue;
    given[{id, 0}] = to_host(inputs.at(static_cast<std::size_t>(graph.node(id).origin)));
  }
  const std::vector<graph::HostTensor> results = run_oracle(graph, given);
  ASSERT_EQ(results.size(), expected.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Tensor got{results[i].dtype, results[i].dims, results[i].to_bytes(), {}};
    const Difference difference = compare(expected[i], got);
    EXPECT_EQ(difference.problem, "") << "seed " << kSeed;
    EXPECT_LE(difference.relative_error, tolerance) << "seed " << kSeed;
  }
}

class OracleOp : public ::testing::TestWithParam<Case> {};

TEST_P(OracleOp, AgreesWithOnnxRuntime) {
  ModelBuilder model;
  GetParam().build(model);
  expect_agreement(model);
}

INSTANTIATE_TEST_SUITE_P(All, OracleOp, ::testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param.name; });

/// y = Relu(x W + b) by hand.
TEST(Oracle, StopsAtGivenValuesAndFoldsConstants) {
  const TempFolder folder;
  ModelBuilder model;
  model.input("x", {1, 2})
      .output("y", {1, 2})
      .weight("w", {2, 2}, {1, 2, 3, 4})
      .weight("b", {2}, {0.5f, -100});
  model.node("MatMul", {"x", "w"}, {"m"});
  model.node("Add", {"m", "b"}, {"a"});
  model.node("Relu", {"a"}, {"y"});
  const onnx::ImportedModel imported = onnx::import_model(model.write(folder / "m.onnx"));
  const graph::Graph& graph = imported.graph();
  graph::Value input, product;
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
    if (graph.node(id).kind == graph::OpKind::input) input = {id, 0};
    if (graph.node(id).kind == graph::OpKind::matmul) product = {id, 0};
  }
  const graph::HostTensor row{DType::float32, {1, 2}, {10, 20}, {}};
  EXPECT_EQ(run_oracle(graph, {{input, row}})[0].real, (std::vector<double>{70.5, 0}));
  EXPECT_EQ(run_oracle(graph, {{product, row}})[0].real, (std::vector<double>{10.5, 0}));
  EXPECT_THROW(run_oracle(graph, {}), ExecError);
}

TEST(Oracle, RefusesOpaqueOps) {
  const TempFolder folder;
  ModelBuilder model;
  model.input("x", {4}).output("y", {4}, ::onnx::TensorProto::INT64);
  model.node("NonZero", {"x"}, {"n"});
  model.node("Identity", {"n"}, {"y"});
  const onnx::ImportedModel imported = onnx::import_model(model.write(folder / "m.onnx"));
  const graph::Graph& graph = imported.graph();
  OracleInputs given;
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
    if (graph.node(id).kind == graph::OpKind::input) given[{id, 0}] = {DType::float32, {4}, {1, 0, 2, 0}, {}};
  }
  EXPECT_THROW(run_oracle(graph, given), ExecError);
}

/// An op that rules may touch must have a meaning here, or its rewrites could never be checked.
TEST(Oracle, KnowsEveryOpKind) {
  for (std::size_t i = 0; i < graph::kOpKinds; ++i) {
    const auto kind = static_cast<graph::OpKind>(i);
    const bool has_meaning =
        kind != graph::OpKind::input && kind != graph::OpKind::weight && kind != graph::OpKind::opaque;
    EXPECT_EQ(torch_row(kind) != nullptr, has_meaning) << graph::op_info(kind).name;
  }
}

}  // namespace
}
