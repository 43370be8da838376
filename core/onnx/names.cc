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

}  // namespace

Names::Names(const GraphScope& scope, const graph::Graph& graph, FreshNames& unused)
    : scope_(scope), graph_(graph), unused_(unused) {
  for_each_body(*scope.proto, [&](const pb::GraphProto& body) { collect_definitions(body, inside_); });
  claim_origins();
  name_outputs();
}

/// A rewrite may have copied a node with its origin: the node with the imported id comes first, then the
/// lowest.
void Names::claim_origins() {
  for (NodeId id = 0; id < graph_.id_bound(); ++id) {
    if (!graph_.alive(id)) continue;
    const graph::Node& node = graph_.node(id);
    const bool operation = node.kind != OpKind::input && node.kind != OpKind::weight;
    if (!operation || node.origin < 0) continue;
    const auto [at, fresh] = owner_.try_emplace(node.origin, id);
    if (!fresh && scope_.imported(node.origin) == id) at->second = id;
  }
}

bool Names::owns_origin(NodeId id) const {
  const std::int32_t origin = graph_.node(id).origin;
  if (origin < 0) return false;
  const auto found = owner_.find(origin);
  return found != owner_.end() && found->second == id;
}

std::string Names::of(graph::WeightId weight) const {
  const auto found = scope_.weight_names.find(weight);
  return found == scope_.weight_names.end() ? "" : renamed(found->second);
}

std::string Names::natural(Value value) const {
  const graph::Node& node = graph_.node(value.node);
  if (node.kind == OpKind::input) return scope_.input_name(node.origin);
  if (node.kind == OpKind::weight) {
    const auto found = scope_.weight_names.find(node.weight);
    return found == scope_.weight_names.end() ? "" : found->second;
  }
  if (!owns_origin(value.node)) return "";
  const pb::NodeProto& made = scope_.node(node.origin);
  return static_cast<int>(value.output) < made.output_size() ? made.output(static_cast<int>(value.output))
                                                             : "";
}

void Names::name_outputs() {
  const pb::GraphProto& proto = *scope_.proto;
  const auto outputs = graph_.outputs();
  std::unordered_map<std::string, Value> meaning;  // of output names
  std::vector<std::size_t> open;
  const auto is_weight_named = [&](Value value, const std::string& name) {
    const auto found = scope_.names.find(name);
    const graph::WeightId weight = graph_.weight_of(value);
    return found != scope_.names.end() && weight != graph::WeightId::none && found->second.weight == weight;
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
    const bool nameable = kind != OpKind::input && kind != OpKind::weight &&
                          !names_.contains(key_of(value)) && !is_hidden_inside(wanted);
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
    const auto found = scope_.names.find(wanted);
    if (found != scope_.names.end() && !renamed_.contains(wanted)) renamed_[wanted] = fresh(wanted);
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

}
