#include "core/onnx/names.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;
using graph::NodeId;
using graph::OpKind;
using graph::Value;

std::uint64_t key_of(Value value) {
  return (std::uint64_t{value.node} << 32) | value.output;
}

void collect(const pb::GraphProto& graph, std::unordered_set<std::string>& taken) {
  for (const auto& input : graph.input()) taken.insert(input.name());
  for (const auto& output : graph.output()) taken.insert(output.name());
  for (const auto& tensor : graph.initializer()) taken.insert(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) taken.insert(sparse.values().name());
  for (const pb::NodeProto& node : graph.node()) {
    taken.insert(node.name());
    taken.insert(node.input().begin(), node.input().end());
    taken.insert(node.output().begin(), node.output().end());
    for (const pb::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) collect(attribute.g(), taken);
      for (const pb::GraphProto& inner : attribute.graphs()) collect(inner, taken);
    }
  }
}

}  // namespace

Names::Names(const ImportedModel& model, const graph::Graph& graph) : model_(model), graph_(graph) {
  collect(model.store().model.graph(), taken_);
  claim_origins();
  name_outputs();
}

/// A rewrite may have copied a node with its origin: the node with the imported id comes first, then the
/// lowest.
void Names::claim_origins() {
  const ModelStore& store = model_.store();
  for (NodeId id = 0; id < graph_.id_bound(); ++id) {
    if (!graph_.alive(id)) continue;
    const graph::Node& node = graph_.node(id);
    const bool operation = node.kind != OpKind::input && node.kind != OpKind::weight;
    if (!operation || node.origin < 0) continue;
    const auto [at, fresh] = owner_.try_emplace(node.origin, id);
    if (!fresh && store.nodes[static_cast<std::size_t>(node.origin)] == id) at->second = id;
  }
}

bool Names::owns_origin(NodeId id) const {
  const std::int32_t origin = graph_.node(id).origin;
  if (origin < 0) return false;
  const auto found = owner_.find(origin);
  return found != owner_.end() && found->second == id;
}

std::string Names::natural(Value value) const {
  const graph::Node& node = graph_.node(value.node);
  const pb::GraphProto& proto = model_.store().model.graph();
  if (node.kind == OpKind::input) {
    const int sparse = node.origin - proto.input_size();
    return sparse < 0 ? proto.input(node.origin).name() : proto.sparse_initializer(sparse).values().name();
  }
  if (node.kind == OpKind::weight) {
    const graph::WeightExpr& weight = graph_.tables().weights()[node.weight];
    if (weight.source < 0) return "";
    return source_name(proto, model_.store().sources[static_cast<std::size_t>(weight.source)]);
  }
  if (!owns_origin(value.node)) return "";
  const pb::NodeProto& made = proto.node(node.origin);
  return static_cast<int>(value.output) < made.output_size() ? made.output(static_cast<int>(value.output))
                                                             : "";
}

void Names::name_outputs() {
  const pb::GraphProto& proto = model_.store().model.graph();
  const auto outputs = graph_.outputs();
  std::unordered_map<std::string, Value> meaning;  // of output names
  std::vector<std::size_t> open;
  const auto is_weight_named = [&](Value value, const std::string& name) {
    const auto found = model_.store().names.find(name);
    const graph::WeightId weight = graph_.weight_of(value);
    return found != model_.store().names.end() && weight != graph::WeightId::none &&
           found->second.weight == weight;
  };
  for (std::size_t slot = 0; slot < outputs.size(); ++slot) {
    const std::string& wanted = proto.output(static_cast<int>(slot)).name();
    if (natural(outputs[slot]) == wanted || is_weight_named(outputs[slot], wanted)) {
      meaning.emplace(wanted, outputs[slot]);
      if (graph_.weight_of(outputs[slot]) == graph::WeightId::none) names_[key_of(outputs[slot])] = wanted;
    } else {
      open.push_back(slot);
    }
  }
  for (const std::size_t slot : open) {
    const std::string& wanted = proto.output(static_cast<int>(slot)).name();
    const Value value = outputs[slot];
    // Runtimes allow an output to be listed twice.
    if (const auto same = meaning.find(wanted); same != meaning.end() && same->second == value) continue;
    const OpKind kind = graph_.node(value.node).kind;
    const bool nameable = kind != OpKind::input && kind != OpKind::weight && !names_.contains(key_of(value));
    if (nameable) {
      const std::string before = natural(value);
      if (!before.empty()) renamed_[before] = wanted;
      names_[key_of(value)] = wanted;
    } else {
      copies_.emplace_back(wanted, value);
    }
    meaning.emplace(wanted, value);
  }
  // Whatever else had one of these names in the model gives way.
  for (const std::size_t slot : open) {
    const std::string& wanted = proto.output(static_cast<int>(slot)).name();
    const auto found = model_.store().names.find(wanted);
    if (found != model_.store().names.end() && !renamed_.contains(wanted)) renamed_[wanted] = fresh(wanted);
  }
}

const std::string& Names::of(Value value) {
  const auto [at, fresh_name] = names_.try_emplace(key_of(value));
  if (!fresh_name) return at->second;
  std::string name = natural(value);
  if (!name.empty())
    name = renamed(name);
  else
    name = fresh("regraft_" + std::string(graph::op_info(graph_.node(value.node).kind).name));
  return names_[key_of(value)] = std::move(name);
}

const std::string& Names::renamed(const std::string& name) const {
  const auto found = renamed_.find(name);
  return found == renamed_.end() ? name : found->second;
}

std::string Names::fresh(const std::string& stem) {
  while (true) {
    std::string name = stem + "_" + std::to_string(counters_[stem]++);
    if (taken_.insert(name).second) return name;
  }
}

}  // namespace regraft::onnx
