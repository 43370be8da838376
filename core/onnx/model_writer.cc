#include "core/onnx/model_writer.h"

#include <algorithm>
#include <queue>
#include <unordered_set>

#include "core/graph/order.h"
#include "core/onnx/names.h"
#include "core/onnx/new_constants.h"
#include "core/onnx/node_forms.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;
using graph::NodeId;
using graph::OpKind;
using graph::Value;
using graph::WeightId;

constexpr std::int64_t kFirstIrOfFreeInitializers = 4;  // before, each initializer was a graph input as well

/// Where a node stands among the others: origins in their order, made nodes right after the last of their
/// inputs.
using Place = std::pair<std::int64_t, std::int64_t>;

struct PlacedNode {
  Place place;
  pb::NodeProto proto;
};

/// Calls use(name) for all that a graph's nodes and outputs refer to, captures included.
template <typename Use>
void for_each_reference(const pb::GraphProto& graph, const Use& use) {
  for (const pb::NodeProto& node : graph.node()) {
    for (const std::string& input : node.input()) use(input);
    for (const std::string& name : captured_names(node)) use(name);
  }
  for (const auto& output : graph.output()) use(output.name());
  for (const auto& annotation : graph.quantization_annotation())
    for (const auto& entry : annotation.quant_parameter_tensor_names()) use(entry.value());
}

std::unordered_set<std::string> references(const pb::GraphProto& graph) {
  std::unordered_set<std::string> names;
  for_each_reference(graph, [&](const std::string& name) { names.insert(name); });
  return names;
}

class ModelWriter {
 public:
  ModelWriter(const ImportedModel& model, const graph::Graph& graph)
      : model_(model),
        store_(model.store()),
        proto_(store_.model.graph()),
        graph_(graph),
        names_(model, graph),
        constants_(store_, graph.tables(), names_, written_.payloads) {
    written_.payloads = store_.payloads;
  }

  WrittenModel write() {
    written_.model = store_.model;
    pb::GraphProto& out = *written_.model.mutable_graph();
    out.clear_node();
    out.clear_value_info();
    add_operations();
    add_output_copies();
    add_constant_nodes();
    for (pb::NodeProto& node : sorted_nodes()) out.add_node()->Swap(&node);
    import_domains(out);
    keep_used_initializers(out);
    keep_live_value_info(out);
    for (auto& annotation : *out.mutable_quantization_annotation())
      annotation.set_tensor_name(names_.renamed(annotation.tensor_name()));
    return std::move(written_);
  }

 private:
  std::string name_of(Value value) {
    if (!value.present()) return "";
    const WeightId weight = graph_.weight_of(value);
    return weight == WeightId::none ? names_.of(value) : constants_.weight(weight);
  }

  // --- nodes

  void add_operations() {
    for (const NodeId id : graph::topological_order(graph_)) {
      const graph::Node& node = graph_.node(id);
      if (node.kind == OpKind::input || node.kind == OpKind::weight) continue;
      PlacedNode placed;
      const bool owns = names_.owns_origin(id);
      placed.place = owns ? Place{node.origin, 0} : place_after_inputs(id);
      places_[id] = placed.place;
      if (owns ? keeps_form(id) : node.kind == OpKind::opaque)
        copy_node(id, placed.proto);
      else
        make_node(id, owns, placed.proto);
      if (!owns) placed.proto.set_name(names_.fresh("regraft_node_" + placed.proto.op_type()));
      nodes_.push_back(std::move(placed));
    }
  }

  Place place_after_inputs(NodeId id) const {
    Place place{0, 0};
    for (const Value value : graph_.node(id).inputs)
      if (value.present())
        if (const auto found = places_.find(value.node); found != places_.end())
          place = std::max(place, found->second);
    return {place.first, place.second + 1};
  }

  const graph::Node& imported(std::int32_t origin) const {
    return model_.graph().node(store_.nodes[static_cast<std::size_t>(origin)]);
  }

  /// Whether the NodeProto still says what the node is. Its attributes may count from a rank or copy a dim,
  /// so the types of its inputs must be what they were.
  bool keeps_form(NodeId id) const {
    const graph::Node &node = graph_.node(id), &before = imported(node.origin);
    if (node.kind == OpKind::opaque) return true;
    if (node.kind != before.kind || node.attrs != before.attrs || node.inputs.size() != before.inputs.size())
      return false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Value now = node.inputs[i], then = before.inputs[i];
      if (now.present() != then.present()) return false;
      if (now.present() && graph_.type_id(now) != model_.graph().type_id(then)) return false;
    }
    return true;
  }

  /// What an input of a copied node is called now; the old name when it is the same value or no input of the
  /// Graph.
  std::string current_name(const graph::Node& node, const graph::Node& before, std::size_t slot,
                           const std::string& name) {
    if (slot >= node.inputs.size() || slot >= before.inputs.size() || !node.inputs[slot].present())
      return names_.renamed(name);
    const Value now = node.inputs[slot], then = before.inputs[slot];
    const WeightId weight = graph_.weight_of(now);
    const bool same_weight =
        weight != WeightId::none && then.present() && weight == model_.graph().weight_of(then);
    return same_weight ? names_.renamed(name) : name_of(now);
  }

  void copy_node(NodeId id, pb::NodeProto& out) {
    const graph::Node &node = graph_.node(id), &before = imported(node.origin);
    out = proto_.node(node.origin);
    for (int i = 0; i < out.input_size(); ++i)
      if (!out.input(i).empty())
        out.set_input(i, current_name(node, before, static_cast<std::size_t>(i), out.input(i)));
    std::unordered_map<std::string, std::string> changes;
    auto slot = static_cast<std::size_t>(out.input_size());
    for (const std::string& captured : captured_names(out)) {
      const std::string now = current_name(node, before, slot++, captured);
      if (now != captured) changes.emplace(captured, now);
    }
    if (!changes.empty()) rename_captures(out, changes);
    name_outputs(id, out);
  }

  /// Outputs that were left out stay so unless something uses them now.
  void name_outputs(NodeId id, pb::NodeProto& out) {
    for (int k = 0; k < out.output_size(); ++k) {
      const Value value{id, static_cast<std::uint32_t>(k)};
      const bool left_out = out.output(k).empty() && graph_.use_count(value) == 0;
      if (!left_out) out.set_output(k, names_.of(value));
    }
  }

  void make_node(NodeId id, bool owns, pb::NodeProto& out) {
    const graph::Node& node = graph_.node(id);
    std::vector<std::string> inputs;
    for (const Value value : node.inputs) inputs.push_back(name_of(value));
    if (owns) {
      const pb::NodeProto& before = proto_.node(node.origin);
      out = before;
      out.clear_input();
      out.clear_output();
      out.clear_attribute();
      out.clear_domain();
    }
    write_node(graph_, id, store_.opset, std::move(inputs), constants_, out);
    for (std::uint32_t k = 0; k < node.outputs.size(); ++k) out.add_output(names_.of({id, k}));
  }

  void add_output_copies() {
    for (const auto& [name, value] : names_.copies()) {
      PlacedNode placed;
      placed.place = {proto_.node_size(), static_cast<std::int64_t>(nodes_.size())};
      placed.proto.set_op_type("Identity");
      placed.proto.set_name(names_.fresh("regraft_node_Identity"));
      placed.proto.add_input(name_of(value));
      placed.proto.add_output(name);
      nodes_.push_back(std::move(placed));
    }
  }

  /// Constant nodes that something uses, or that nothing ever used.
  void add_constant_nodes() {
    const auto before = references(proto_);
    std::unordered_set<std::string> now;
    for (const PlacedNode& placed : nodes_) {
      now.insert(placed.proto.input().begin(), placed.proto.input().end());
      for (const std::string& name : captured_names(placed.proto)) now.insert(name);
    }
    for (const auto& output : proto_.output()) now.insert(output.name());
    for (const SourceRef& source : store_.sources) {
      if (!source.is_node) continue;
      PlacedNode placed{{source.at, 0}, proto_.node(source.at)};
      const std::string name = placed.proto.output(0);
      placed.proto.set_output(0, names_.renamed(name));
      if (now.contains(placed.proto.output(0)) || !before.contains(name)) nodes_.push_back(std::move(placed));
    }
  }

  /// Kahn's algorithm by place: the model's own order wherever it still holds.
  std::vector<pb::NodeProto> sorted_nodes() {
    std::unordered_map<std::string, std::size_t> maker;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (const std::string& output : nodes_[i].proto.output())
        if (!output.empty()) maker.emplace(output, i);
    std::vector<std::vector<std::size_t>> users(nodes_.size());
    std::vector<int> waits(nodes_.size(), 0);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto wait_for = [&](const std::string& name) {
        const auto found = maker.find(name);
        if (name.empty() || found == maker.end()) return;
        users[found->second].push_back(i);
        ++waits[i];
      };
      for (const std::string& input : nodes_[i].proto.input()) wait_for(input);
      for (const std::string& name : captured_names(nodes_[i].proto)) wait_for(name);
    }
    using Entry = std::pair<Place, std::size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (waits[i] == 0) ready.push({nodes_[i].place, i});
    std::vector<pb::NodeProto> sorted;
    while (!ready.empty()) {
      const std::size_t i = ready.top().second;
      ready.pop();
      for (const std::size_t user : users[i])
        if (--waits[user] == 0) ready.push({nodes_[user].place, user});
      sorted.push_back(std::move(nodes_[i].proto));
    }
    if (sorted.size() != nodes_.size())
      throw OnnxError("the rewritten graph has a cycle", model_.path().string(), "");
    return sorted;
  }

  // --- what stands beside the nodes

  /// A runtime's own ops that rewrites made need their domain.
  void import_domains(const pb::GraphProto& out) {
    for (const std::string_view domain : graph::runtime_domains()) {
      const bool used = std::any_of(out.node().begin(), out.node().end(),
                                    [&](const pb::NodeProto& node) { return node.domain() == domain; });
      if (!used || imported_version(written_.model, domain) != 0) continue;
      pb::OperatorSetIdProto& import = *written_.model.add_opset_import();
      import.set_domain(std::string(domain));
      import.set_version(kRuntimeDomainVersion);
    }
  }

  void keep_used_initializers(pb::GraphProto& out) {
    const bool trains = written_.model.training_info_size() > 0;
    const auto before = references(proto_), now = references(out);
    std::unordered_set<std::string> dropped;
    google::protobuf::RepeatedPtrField<pb::TensorProto> kept;
    for (pb::TensorProto& tensor : *out.mutable_initializer()) {
      const std::string name = tensor.name();
      tensor.set_name(names_.renamed(name));
      const auto named = store_.names.find(name);
      const bool overridable = named == store_.names.end() || named->second.weight == WeightId::none;
      if (trains || overridable || now.contains(tensor.name()) || !before.contains(name))
        kept.Add()->Swap(&tensor);
      else
        dropped.insert(name);
    }
    if (store_.model.ir_version() < kFirstIrOfFreeInitializers) list_initializers_as_inputs(out, dropped);
    for (pb::TensorProto& tensor : constants_.tensors()) kept.Add()->Swap(&tensor);
    out.mutable_initializer()->Swap(&kept);
  }

  void list_initializers_as_inputs(pb::GraphProto& out, const std::unordered_set<std::string>& dropped) {
    google::protobuf::RepeatedPtrField<pb::ValueInfoProto> inputs;
    for (pb::ValueInfoProto& input : *out.mutable_input()) {
      if (dropped.contains(input.name())) continue;
      const auto named = store_.names.find(input.name());
      if (named != store_.names.end() && named->second.weight != WeightId::none)
        input.set_name(names_.renamed(input.name()));
      inputs.Add()->Swap(&input);
    }
    for (const pb::TensorProto& tensor : constants_.tensors()) {
      pb::ValueInfoProto& input = *inputs.Add();
      input.set_name(tensor.name());
      auto& type = *input.mutable_type()->mutable_tensor_type();
      type.set_elem_type(tensor.data_type());
      auto& shape = *type.mutable_shape();  // there for a scalar too
      for (const std::int64_t dim : tensor.dims()) shape.add_dim()->set_dim_value(dim);
    }
    out.mutable_input()->Swap(&inputs);
  }

  /// Entries for names that still mean what they meant.
  void keep_live_value_info(pb::GraphProto& out) {
    std::unordered_set<std::string> made;
    for (const auto& input : out.input()) made.insert(input.name());
    for (const auto& tensor : out.initializer()) made.insert(tensor.name());
    for (const pb::NodeProto& node : out.node()) made.insert(node.output().begin(), node.output().end());
    for (const auto& info : proto_.value_info()) {
      const bool defined_before = store_.names.contains(info.name());
      if (!defined_before || (made.contains(info.name()) && names_.renamed(info.name()) == info.name()))
        *out.add_value_info() = info;
    }
  }

  const ImportedModel& model_;
  const ModelStore& store_;
  const pb::GraphProto& proto_;
  const graph::Graph& graph_;
  Names names_;
  WrittenModel written_;
  std::vector<PlacedNode> nodes_;
  std::unordered_map<NodeId, Place> places_;
  NewConstants constants_;
};

}  // namespace

WrittenModel write_messages(const ImportedModel& model, const graph::Graph& graph) {
  return ModelWriter(model, graph).write();
}

}  // namespace regraft::onnx
