#include "core/onnx/written_model.h"

#include <algorithm>
#include <unordered_set>

#include "core/graph/order.h"
#include "core/onnx/captures.h"
#include "core/onnx/imported_version.h"
#include "core/onnx/names.h"
#include "core/onnx/new_constants.h"
#include "core/onnx/node_forms.h"
#include "core/onnx/node_order.h"
#include "core/onnx/onnx_error.h"

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

/// Whether nothing was rewritten.
bool same_nodes(const graph::Graph& a, const graph::Graph& b) {
  if (a.id_bound() != b.id_bound() || !std::ranges::equal(a.outputs(), b.outputs())) return false;
  for (NodeId id = 0; id < a.id_bound(); ++id) {
    if (a.alive(id) != b.alive(id)) return false;
    if (!a.alive(id)) continue;
    const graph::Node &one = a.node(id), &other = b.node(id);
    if (one.kind != other.kind || one.attrs != other.attrs || one.weight != other.weight ||
        one.origin != other.origin || !std::ranges::equal(one.inputs, other.inputs))
      return false;
  }
  return true;
}

/// What the graphs of one model share while they are written.
struct Writing {
  Writing(const ImportedModel& imported, std::span<const graph::Graph> rewritten)
      : model(imported),
        store(imported.store()),
        graphs(rewritten),
        names(*store.main().proto),
        changed(store.scopes.size(), false) {
    for (std::size_t at = graphs.size(); at-- > 1;) {
      if (!same_nodes(graphs[at], model.graph(at))) changed[at] = true;
      if (changed[at]) changed[store.scopes[at].outer] = true;
    }
    written.payloads = store.payloads;
    written.model = store.model;
  }

  const ImportedModel& model;
  const ModelStore& store;
  std::span<const graph::Graph> graphs;
  FreshNames names;
  std::vector<bool> changed;  // of bodies: they or what lies in them
  WrittenModel written;
  std::unordered_set<std::string> domains;  // of the nodes made by rewrites
};

class GraphWriter {
 public:
  GraphWriter(Writing& all, std::size_t at)
      : all_(all),
        is_body_(at > 0),
        imported_(all.model.graph(at)),
        store_(all.store),
        scope_(all.store.scopes[at]),
        proto_(*scope_.proto),
        graph_(all.graphs[at]),
        names_(scope_, graph_, all.names),
        constants_(graph_.tables(), names_, all.written.payloads) {}

  /// `out` is a copy of the graph as it was.
  void write(pb::GraphProto& out) {
    out.clear_node();
    out.clear_value_info();
    add_operations();
    add_output_copies();
    add_constant_nodes();
    if (is_body_ && store_.model.ir_version() < kFirstIrOfFreeInitializers) add_new_constants_as_nodes();
    for (pb::NodeProto& node : sorted_nodes()) out.add_node()->Swap(&node);
    keep_used_initializers(out);
    keep_live_value_info(out);
    for (auto& annotation : *out.mutable_quantization_annotation())
      annotation.set_tensor_name(names_.renamed(annotation.tensor_name()));
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

  const graph::Node& imported(std::int32_t origin) const { return imported_.node(scope_.imported(origin)); }

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
      if (now.present() && graph_.type_id(now) != imported_.type_id(then)) return false;
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
        weight != WeightId::none && then.present() && weight == imported_.weight_of(then);
    return same_weight ? names_.renamed(name) : name_of(now);
  }

  void copy_node(NodeId id, pb::NodeProto& out) {
    const graph::Node &node = graph_.node(id), &before = imported(node.origin);
    out = scope_.node(node.origin);
    for (int i = 0; i < out.input_size(); ++i)
      if (!out.input(i).empty())
        out.set_input(i, current_name(node, before, static_cast<std::size_t>(i), out.input(i)));
    std::unordered_map<std::string, std::string> changes;
    auto slot = static_cast<std::size_t>(out.input_size());
    for (const std::string& captured : captured_names(out)) {
      const std::string now = current_name(node, before, slot++, captured);
      if (now != captured) changes.emplace(captured, names_.is_hidden_inside(now) ? alias(id, now) : now);
    }
    write_bodies(node.origin, out);
    if (!changes.empty()) rename_captures(out, changes);
    name_outputs(id, out);
  }

  /// Bodies that changed, with the names that they captured in the model.
  void write_bodies(std::int32_t origin, pb::NodeProto& out) {
    const auto found = store_.bodies.find(origin);
    if (found == store_.bodies.end()) return;
    for (const BodyRef& body : found->second)
      if (all_.changed[body.scope])
        GraphWriter(all_, body.scope).write(*out.mutable_attribute(body.attribute)->mutable_g());
  }

  /// Another name for a value, for bodies in which its own stands for something else.
  std::string alias(NodeId user, const std::string& name) {
    PlacedNode placed;
    placed.place = places_.at(user);
    placed.proto.set_op_type("Identity");
    placed.proto.set_name(names_.fresh("regraft_node_Identity"));
    placed.proto.add_input(name);
    placed.proto.add_output(names_.fresh("regraft_Identity"));
    nodes_.push_back(placed);
    return placed.proto.output(0);
  }

  /// Outputs that were left out, those behind the last one too, stay so unless something uses them now.
  void name_outputs(NodeId id, pb::NodeProto& out) {
    auto known = static_cast<std::uint32_t>(graph_.node(id).outputs.size());
    while (known > 0 && graph_.use_count({id, known - 1}) == 0) --known;
    while (static_cast<std::uint32_t>(out.output_size()) < known) out.add_output("");
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
      out = scope_.node(node.origin);
      out.clear_input();
      out.clear_output();
      out.clear_attribute();
      out.clear_domain();
    }
    write_node(graph_, id, store_.opset, std::move(inputs), constants_, out);
    for (std::uint32_t k = 0; k < node.outputs.size(); ++k) out.add_output(names_.of({id, k}));
    all_.domains.insert(out.domain());
  }

  void add_output_copies() {
    for (const auto& [name, value] : names_.copies()) {
      PlacedNode placed;
      placed.place = {scope_.first_origin + proto_.node_size(), static_cast<std::int64_t>(nodes_.size())};
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
    for (int at = 0; at < proto_.node_size(); ++at) {
      if (scope_.nodes[static_cast<std::size_t>(at)] != graph::kNoNode) continue;
      PlacedNode placed{{scope_.first_origin + at, 0}, proto_.node(at)};
      const std::string name = placed.proto.output(0);
      placed.proto.set_output(0, names_.renamed(name));
      if (now.contains(placed.proto.output(0)) || !before.contains(name)) nodes_.push_back(std::move(placed));
    }
  }

  /// Bodies of old models have no initializers of their own.
  void add_new_constants_as_nodes() {
    for (pb::TensorProto& tensor : constants_.tensors()) {
      PlacedNode placed;
      placed.place = {scope_.first_origin, -1};
      placed.proto.set_op_type("Constant");
      placed.proto.set_name(names_.fresh("regraft_node_Constant"));
      placed.proto.add_output(tensor.name());
      pb::AttributeProto& value = *placed.proto.add_attribute();
      value.set_name("value");
      value.set_type(pb::AttributeProto::TENSOR);
      value.mutable_t()->Swap(&tensor);
      nodes_.push_back(std::move(placed));
    }
    constants_.tensors().clear();
  }

  /// The model's own order wherever it still holds.
  std::vector<pb::NodeProto> sorted_nodes() {
    std::ranges::stable_sort(nodes_, {}, &PlacedNode::place);
    std::vector<const pb::NodeProto*> protos;
    for (const PlacedNode& placed : nodes_) protos.push_back(&placed.proto);
    std::vector<pb::NodeProto> sorted;
    for (const std::size_t i : node_order(protos)) sorted.push_back(std::move(nodes_[i].proto));
    if (sorted.size() != nodes_.size())
      throw OnnxError("the rewritten graph has a cycle", store_.path.string(), "please report this");
    return sorted;
  }

  // --- what stands beside the nodes

  void keep_used_initializers(pb::GraphProto& out) {
    const bool trains = store_.model.training_info_size() > 0;
    const auto before = references(proto_), now = references(out);
    std::unordered_set<std::string> dropped;
    google::protobuf::RepeatedPtrField<pb::TensorProto> kept;
    for (pb::TensorProto& tensor : *out.mutable_initializer()) {
      const std::string name = tensor.name();
      tensor.set_name(names_.renamed(name));
      const auto named = scope_.names.find(name);
      const bool overridable = named == scope_.names.end() || named->second.weight == WeightId::none;
      if (trains || overridable || now.contains(tensor.name()) || !before.contains(name))
        kept.Add()->Swap(&tensor);
      else
        dropped.insert(name);
    }
    if (!is_body_ && store_.model.ir_version() < kFirstIrOfFreeInitializers)
      list_initializers_as_inputs(out, dropped);
    for (pb::TensorProto& tensor : constants_.tensors()) kept.Add()->Swap(&tensor);
    out.mutable_initializer()->Swap(&kept);
  }

  void list_initializers_as_inputs(pb::GraphProto& out, const std::unordered_set<std::string>& dropped) {
    google::protobuf::RepeatedPtrField<pb::ValueInfoProto> inputs;
    for (pb::ValueInfoProto& input : *out.mutable_input()) {
      if (dropped.contains(input.name())) continue;
      const auto named = scope_.names.find(input.name());
      if (named != scope_.names.end() && named->second.weight != WeightId::none)
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
      const bool defined_before = scope_.names.contains(info.name());
      if (!defined_before || (made.contains(info.name()) && names_.renamed(info.name()) == info.name()))
        *out.add_value_info() = info;
    }
  }

  Writing& all_;
  const bool is_body_;
  const graph::Graph& imported_;
  const ModelStore& store_;
  const GraphScope& scope_;
  const pb::GraphProto& proto_;
  const graph::Graph& graph_;
  Names names_;
  std::vector<PlacedNode> nodes_;
  std::unordered_map<NodeId, Place> places_;
  NewConstants constants_;
};

/// A runtime's own ops that rewrites made need their domain.
void import_domains(Writing& all) {
  for (const std::string_view domain : graph::runtime_domains()) {
    if (!all.domains.contains(std::string(domain)) || imported_version(all.written.model, domain) != 0)
      continue;
    pb::OperatorSetIdProto& import = *all.written.model.add_opset_import();
    import.set_domain(std::string(domain));
    import.set_version(kRuntimeDomainVersion);
  }
}

}  // namespace

WrittenModel write_messages(const ImportedModel& model, std::span<const graph::Graph> graphs) {
  Writing all(model, graphs);
  GraphWriter(all, 0).write(*all.written.model.mutable_graph());
  import_domains(all);
  return std::move(all.written);
}

}
