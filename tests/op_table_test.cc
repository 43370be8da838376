// What exists of each op, found by asking the folders themselves: core/graph/ops.md holds the same table.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/cost/kernel_cost.h"
#include "core/cost/kernel_models.h"
#include "core/exec/site/oracle_cases.h"
#include "core/exec/torch/torch_ops.h"
#include "core/graph/evaluate.h"
#include "core/graph/opset.h"
#include "core/onnx/import.h"
#include "core/onnx/node_forms.h"
#include "core/proof/exact/exact_tensor.h"
#include "core/proof/symbolic/interpretation.h"

namespace regraft {
namespace {

using graph::DType;
using graph::OpKind;
using proof::Exact;
using proof::ExactTensor;

constexpr const char* kNone = "-";

/// What is found of one op by the small models of tests/core/exec/site/oracle_cases.h.
struct Found {
  bool folded = false, exact = false, written = false;
  std::string cost = kNone;
};

const std::filesystem::path kRoot = REGRAFT_SOURCE_DIR;

const cost::DeviceProfile& device() {
  static const cost::DeviceProfile profile = cost::load_device(kRoot / "configs/devices/cpu-1core.toml");
  return profile;
}

/// The ops that the device's file gives a rate, by ONNX name.
const std::set<std::string>& rated_ops() {
  static const std::set<std::string> rated = [] {
    std::set<std::string> names;
    std::istringstream lines(read_file(kRoot / "configs/devices/cpu-1core.toml"));
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with('[')) inside = line.starts_with("[elementwise]");
      if (inside && line.find(" = ") != std::string::npos) names.insert(line.substr(0, line.find(' ')));
    }
    return names;
  }();
  return rated;
}

std::string cost_of(const graph::Tables& tables, const graph::Signature& signature) {
  if (cost::is_linear(tables, signature)) return "kernel";
  if (cost::is_view_kind(signature.kind)) return "view";
  const graph::OpInfo& op = graph::op_info(signature.kind);
  // A device on which nothing but traffic, and the arithmetic of elementwise ops, takes time.
  cost::DeviceProfile plain;
  plain.near_bytes = device().near_bytes;
  plain.near_ns_per_byte = device().near_ns_per_byte;
  plain.far_ns_per_byte = device().far_ns_per_byte;
  if (op.is(graph::kElementwise)) plain.elementwise_ns = device().elementwise_ns;
  const graph::Bindings bindings;
  const graph::OpCounts counts = op_counts(tables, signature, bindings);
  const auto time_on = [&](const cost::DeviceProfile& profile) {
    return cost::element_time_us({profile, tables, bindings, signature}, counts);
  };
  if (time_on(device()) != time_on(plain)) return "kernel";
  if (!op.is(graph::kElementwise)) return "traffic";
  return rated_ops().contains(std::string(op.name)) ? "rate" : "default rate";
}

/// All elements the same number, or a constant's own.
ExactTensor exact_input(const graph::Graph& graph, graph::Value value, double real, std::int64_t integer) {
  const graph::Node& node = graph.node(value.node);
  const graph::TensorType& type = graph.type(value);
  graph::Ints dims;
  for (const graph::Dim dim : type.dims) dims.push_back(graph::Bindings().value(dim));
  ExactTensor tensor = ExactTensor::zeros(type.dtype, dims);
  if (node.kind == OpKind::weight) {
    const graph::HostTensor held = graph::evaluate(graph.tables(), node.weight);
    for (std::size_t i = 0; i < tensor.values.size(); ++i)
      tensor.values[i] = held.real.empty() ? Exact::of(held.integer[i]) : Exact::of(held.real[i]);
  } else {
    for (Exact& held : tensor.values) held = is_float(type.dtype) ? Exact::of(real) : Exact::of(integer);
  }
  return tensor;
}

bool is_exact(const graph::Graph& graph, graph::NodeId id) {
  const graph::Node& node = graph.node(id);
  for (const double real : {1.0, 0.5, -0.5}) {
    for (const std::int64_t integer : {1, 0}) {
      std::vector<ExactTensor> tensors;
      for (const graph::Value value : node.inputs)
        tensors.push_back(graph.alive(value.node) ? exact_input(graph, value, real, integer) : ExactTensor());
      std::vector<const ExactTensor*> inputs;
      for (std::size_t i = 0; i < tensors.size(); ++i)
        inputs.push_back(graph.alive(node.inputs[i].node) ? &tensors[i] : nullptr);
      try {
        evaluate_exactly(node.kind, graph.tables().attrs(node.attrs), inputs, graph.type({id, 0}));
        return true;
      } catch (const proof::Undecided&) {
      } catch (const graph::GraphError&) {
      }
    }
  }
  return false;
}

/// Gives every constant a name and forgets it.
class NoConstants : public onnx::ConstantMaker {
 public:
  std::string integers(std::span<const std::int64_t>) override { return "c"; }
  std::string scalar(DType, double) override { return "c"; }
  std::string reals(std::span<const float>) override { return "c"; }
  void set_contents(::onnx::TensorProto&, std::span<const std::byte>) override {}
};

bool is_written(const graph::Graph& graph, graph::NodeId id, std::int64_t opset) {
  NoConstants constants;
  ::onnx::NodeProto out;
  onnx::write_node(graph, id, opset, std::vector<std::string>(graph.node(id).inputs.size(), "x"), constants,
                   out);
  return out.op_type() == graph::op_info(graph.node(id).kind).name;
}

void look(const graph::Graph& graph, graph::NodeId id, std::int64_t opset, Found& found) {
  const graph::Node& node = graph.node(id);
  const graph::Signature& signature = graph.tables().signature(node.signature);
  found.folded |= can_evaluate(graph.tables(), node.kind, signature.inputs);
  found.exact = found.exact || is_exact(graph, id);
  found.written = found.written || is_written(graph, id, opset);
  found.cost = cost_of(graph.tables(), signature);
}

std::map<OpKind, Found> look_at_all() {
  std::map<OpKind, Found> found;
  for (const exec::testing::Case& each : exec::testing::all_cases()) {
    exec::testing::ModelBuilder builder;
    each.build(builder);
    const std::string bytes = builder.bytes();
    const auto model = onnx::import_model_bytes(std::as_bytes(std::span(bytes)), ".");
    const graph::Graph& graph = model.graph();
    for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
      if (!graph.alive(id)) continue;
      const OpKind kind = graph.node(id).kind;
      if (kind != OpKind::input && kind != OpKind::weight && kind != OpKind::opaque)
        look(graph, id, model.opset(), found[kind]);
    }
  }
  return found;
}

std::string proof_of(OpKind kind) {
  switch (proof::interpretation(kind)) {
    case proof::Interpretation::defined:
      return "definition";
    case proof::Interpretation::uninterpreted:
      return "function";
    default:
      return kNone;
  }
}

std::string form_of(const graph::OpInfo& op) {
  return op.domain.empty() ? "opset " + std::to_string(graph::first_opset(op.kind)) : std::string(op.domain);
}

/// The table's lines, sorted as the ops are in op.h.
std::string table(const std::map<OpKind, Found>& all) {
  std::string text =
      "| op | types | folded | exact | oracle | proof | cost | ONNX |\n|---|---|---|---|---|---|---|---|\n";
  const auto yes = [](bool holds) { return holds ? "yes" : kNone; };
  for (const auto& [kind, found] : all) {
    const graph::OpInfo& op = graph::op_info(kind);
    text += "| " + std::string(op.name);
    for (const std::string& cell :
         {std::string(yes(op.infer != nullptr)), std::string(yes(found.folded)),
          std::string(yes(found.exact)), std::string(yes(exec::torch_row(kind) != nullptr)), proof_of(kind),
          found.cost, found.written ? form_of(op) : kNone})
      text += " | " + cell;
    text += " |\n";
  }
  return text;
}

TEST(OpTable, IsWhatTheFoldersKnow) {
  const std::filesystem::path page = kRoot / "core/graph/ops.md";
  const std::string text = read_file(page), made = table(look_at_all());
  const std::size_t begin = std::min(text.find("| op |"), text.size());
  if (text.substr(begin) == made) return;
  const std::filesystem::path other = std::filesystem::path(REGRAFT_BINARY_DIR) / "ops.md";
  write_file_atomic(other, text.substr(0, begin) + made);
  ADD_FAILURE() << page << " is not what there is; if that is meant: cp " << other << ' ' << page;
}

// Without these an op is no use: rules could not name it, its rewrites not be checked, nor models written.
TEST(OpTable, EveryOpHasTypesAnOracleAFormAndACase) {
  const auto all = look_at_all();
  for (std::size_t i = 0; i < graph::kOpKinds; ++i) {
    const auto kind = static_cast<OpKind>(i);
    if (kind == OpKind::input || kind == OpKind::weight || kind == OpKind::opaque) continue;
    const std::string name(graph::op_info(kind).name);
    if (!all.contains(kind)) {
      ADD_FAILURE() << name << ": add a case to tests/core/exec/site/oracle_cases.h";
      continue;
    }
    EXPECT_NE(graph::op_info(kind).infer, nullptr) << name;
    EXPECT_NE(exec::torch_row(kind), nullptr) << name;
    EXPECT_TRUE(all.at(kind).written) << name;
  }
}

}  // namespace
}
