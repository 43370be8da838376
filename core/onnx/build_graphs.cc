#include "core/onnx/build_graphs.h"

#include <algorithm>
#include <unordered_set>

#include "core/graph/constants.h"
#include "core/onnx/bodies.h"
#include "core/onnx/captures.h"
#include "core/onnx/declared_types.h"
#include "core/onnx/imported_version.h"
#include "core/onnx/known_values.h"
#include "core/onnx/node_names.h"
#include "core/onnx/node_order.h"
#include "core/onnx/normal_form.h"
#include "core/onnx/onnx_error.h"
#include "core/onnx/opaque_types.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;
using graph::NodeId;
using graph::Operand;
using graph::OpKind;
using graph::TypeId;
using graph::Value;
using graph::WeightId;

constexpr std::int64_t kFirstOpset = 7;
constexpr std::int64_t kFirstIrOfOverridableInitializers = 4;

/// Op types that a model-local function replaces.
using Shadowed = std::unordered_set<std::string>;

class GraphBuilder {
 public:
  GraphBuilder(ModelStore& store, std::size_t at, graph::Tables& tables, const Shadowed& shadowed)
      : store_(store),
        at_(at),
        scope_(store.scopes[at]),
        proto_(*scope_.proto),
        tables_(tables),
        shadowed_(shadowed),
        graph_(tables),
        known_(tables) {}

  void build() {
    scope_.first_origin = store_.origin_count;
    store_.origin_count += proto_.node_size();
    read_declared_types();
    add_initializers_and_inputs();
    if (outer_ != nullptr) add_captures();
    scope_.nodes.assign(static_cast<std::size_t>(proto_.node_size()), graph::kNoNode);
    for (const int at : ordered_nodes()) add_node(at);
    for (const auto& output : proto_.output())
      graph_.add_output(value_of(named(output.name(), "graph output")));
    scope_.known_values = known_.take();
    graph_.commit();
    scope_.graph.emplace(std::move(graph_));
  }

  /// Builds a body, with the types that the outer node gives to its inputs; gives those of its outputs.
  std::vector<TypeId> build_body(const graph::TypeList& input_types, const GraphBuilder& outer) {
    input_types_ = input_types;
    outer_ = &outer;
    depth_ = outer.depth_ + 1;
    build();
    std::vector<TypeId> types;
    for (const Value value : scope_.graph->outputs()) types.push_back(scope_.graph->type_id(value));
    return types;
  }

 private:
  /// In a loop's body only element types: what a loop carries may change its shape.
  void read_declared_types() {
    for (const auto* infos : {&proto_.value_info(), &proto_.output()})
      for (const auto& info : *infos) {
        const TypeId type = declared_type(tables_, info.type());
        declared_[info.name()] =
            repeats() ? tables_.intern(graph::TensorType{tables_.type(type).dtype, false, {}}) : type;
      }
  }

  /// Whether this is a body with inputs, or a branch within one.
  bool repeats() const { return outer_ != nullptr && (proto_.input_size() > 0 || outer_->repeats()); }

  /// What a body takes from outside: constants are its constants too, whatever makes them; other values are
  /// inputs behind its own.
  void add_captures() {
    const int own = proto_.input_size() + proto_.sparse_initializer_size();
    for (const std::string& name : captured_names(proto_)) {
      const NamedValue& outer = outer_->named(name, "captured value");
      const WeightId weight = outer_->operand_of(outer, true).value;
      if (weight != WeightId::none) {
        define(name, {{}, weight}, "captured constants");
        continue;
      }
      const NodeId id = graph_.add_input(outer_->graph_.type_id(outer.value),
                                         own + static_cast<std::int32_t>(scope_.captures.size()));
      scope_.captures.push_back(name);
      define(name, {{id, 0}, WeightId::none}, "captured values");
    }
  }

  void define(const std::string& name, const NamedValue& value, const std::string& where) {
    if (!scope_.names.emplace(name, value).second)
      throw OnnxError("the name '" + name + "' is defined twice", where, "the model is damaged");
    if (value.weight != WeightId::none) scope_.weight_names.emplace(value.weight, name);
  }

  void add_initializers_and_inputs() {
    std::unordered_set<std::string> inputs;
    for (const auto& input : proto_.input()) inputs.insert(input.name());
    const bool overridable = store_.model.ir_version() >= kFirstIrOfOverridableInitializers;
    std::unordered_set<std::string> constants;
    for (int i = 0; i < proto_.initializer_size(); ++i) {
      const pb::TensorProto& tensor = proto_.initializer(i);
      const int source = store_.source_count++;
      if (overridable && inputs.contains(tensor.name())) continue;
      define(tensor.name(), {{}, add_source(read_tensor(tensor, store_.payloads, store_.owned), source)},
             "initializers");
      constants.insert(tensor.name());
    }
    for (int i = 0; i < proto_.input_size(); ++i) {
      const auto& input = proto_.input(i);
      if (constants.contains(input.name())) continue;
      const NodeId id = graph_.add_input(input_type(i), i);
      define(input.name(), {{id, 0}, WeightId::none}, "graph inputs");
    }
    for (int i = 0; i < proto_.sparse_initializer_size(); ++i) add_sparse(i, inputs);
  }

  TypeId input_type(int at) {
    if (outer_ == nullptr) return declared_type(tables_, proto_.input(at).type(), proto_.input(at).name());
    const auto i = static_cast<std::size_t>(at);
    return i < input_types_.size() ? input_types_[i] : tables_.type_none();
  }

  void add_sparse(int at, const std::unordered_set<std::string>& inputs) {
    const pb::SparseTensorProto& sparse = proto_.sparse_initializer(at);
    if (inputs.contains(sparse.values().name())) return;
    graph::TensorType type{static_cast<graph::DType>(sparse.values().data_type() & 255), true, {}};
    for (const std::int64_t dim : sparse.dims()) {
      if (dim < 0) throw OnnxError("has a negative dim", "sparse initializer", "the model is damaged");
      type.dims.push_back(dim);
    }
    const NodeId id = graph_.add_input(tables_.intern(type), proto_.input_size() + at);
    define(sparse.values().name(), {{id, 0}, WeightId::none}, "sparse initializers");
  }

  WeightId add_source(const TensorView& view, int source) {
    const WeightId weight = tables_.weights().source(tables_.intern(view.type), view.bytes, source);
    store_.release(view.bytes);  // hashing has read it all
    return weight;
  }

  const NamedValue& named(const std::string& name, const std::string& where) const {
    const auto found = scope_.names.find(name);
    if (found == scope_.names.end())
      throw OnnxError("uses '" + name + "', which nothing defines", where, "the model is damaged");
    return found->second;
  }

  Value value_of(const NamedValue& named) {
    return named.weight == WeightId::none ? named.value : graph_.weight_value(named.weight);
  }

  std::vector<int> ordered_nodes() const {
    std::unordered_set<std::string> made;
    std::vector<const pb::NodeProto*> nodes;
    for (int at = 0; at < proto_.node_size(); ++at) {
      nodes.push_back(&proto_.node(at));
      for (const std::string& output : proto_.node(at).output())
        if (!output.empty() && !made.insert(output).second)
          throw OnnxError("the name '" + output + "' is defined twice", describe(proto_.node(at), at),
                          "the model is damaged");
    }
    const std::vector<std::size_t> order = node_order(nodes);
    if (order.size() != nodes.size())
      throw OnnxError("its nodes feed each other in a circle", "graph", "the model is damaged");
    return {order.begin(), order.end()};
  }

  void add_node(int at) {
    const pb::NodeProto& node = proto_.node(at);
    const bool standard = is_default_domain(node.domain()) && store_.opset >= kFirstOpset;
    if (standard && node.op_type() == "Constant" && !shadowed_.contains(node.op_type()) &&
        add_constant(node, at))
      return;
    std::vector<NamedValue> inputs;
    for (const std::string& input : node.input())
      inputs.push_back(input.empty() ? NamedValue{} : named(input, describe(node, at)));
    auto kind = graph::op_from_name(node.op_type());
    if (drops_nothing(node, inputs)) {
      kind = OpKind::identity;
      inputs.resize(1);  // the others stay in the NodeProto
    }
    const bool known_op =
        kind && speaks(node, *kind) && !shadowed_.contains(full_name(node.domain(), node.op_type()));
    if (!known_op || !captured_names(node).empty() || !add_known(node, at, *kind, inputs))
      add_opaque(node, at, inputs);
  }

  /// Whether the node's domain, at the version that the model imports, has the op as we know it.
  bool speaks(const pb::NodeProto& node, OpKind kind) const {
    const std::string_view domain = graph::op_info(kind).domain;
    if (store_.opset < kFirstOpset) return false;
    if (domain.empty()) return is_default_domain(node.domain());
    return node.domain() == domain && imported_version(store_.model, domain) == kRuntimeDomainVersion;
  }

  /// A Dropout that does not train: an Identity, unless its mask is asked for.
  bool drops_nothing(const pb::NodeProto& node, const std::vector<NamedValue>& inputs) const {
    if (node.op_type() != "Dropout" || !is_default_domain(node.domain()) || inputs.empty()) return false;
    constexpr int kRatio = 1, kTrainingMode = 2;
    const auto stays_behind = [&](int slot) {  // in the NodeProto, where nothing else is kept for it
      const auto at = static_cast<std::size_t>(slot);
      return at >= inputs.size() || node.input(slot).empty() || inputs[at].weight != WeightId::none;
    };
    if (!stays_behind(kRatio) || !stays_behind(kTrainingMode)) return false;
    if (inputs.size() <= kTrainingMode || node.input(kTrainingMode).empty()) return true;
    return graph::scalar_value(tables_, inputs[kTrainingMode].weight) == 0.0;
  }

  bool add_constant(const pb::NodeProto& node, int at) {
    const auto view = read_constant(node, store_.payloads, store_.owned);
    if (!view) return false;
    define(node.output(0), {{}, add_source(*view, store_.source_count++)}, describe(node, at));
    return true;
  }

  /// What inference knows of an input: `folded` adds the values of nodes that compute constants.
  Operand operand_of(const NamedValue& input, bool folded) const {
    if (input.weight != WeightId::none) return {tables_.weights()[input.weight].type, input.weight, true};
    if (!input.value.present()) return {tables_.type_none(), WeightId::none, false};
    if (!folded) return {graph_.type_id(input.value), WeightId::none, true};
    return {graph_.type_id(input.value), known_.find(input.value), true, known_.elements(input.value)};
  }

  /// False when the node is in a form that is not understood.
  bool add_known(const pb::NodeProto& node, int at, OpKind kind, const std::vector<NamedValue>& inputs) {
    InlineVector<Operand, 4> constant, known;
    const std::size_t kept_operands = operands_kept(kind);
    for (const NamedValue& input : inputs) {
      constant.push_back(operand_of(input, false));
      known.push_back(operand_of(input, true));
      if (known.back().present && !is_plain(tables_.type(known.back().type).dtype)) return false;
    }
    graph::AttrBlock canonical, inferable;
    graph::TypeList types;
    try {
      const auto& read = kept_operands < inputs.size() ? constant : known;
      const auto attrs = read_attributes(node, kind, store_.opset, tables_, read, store_.payloads);
      if (!attrs) return false;
      for (std::size_t k = kept_operands; k < inputs.size(); ++k)
        constant[k].present = known[k].present = false;
      canonical = graph::canonical_attrs(tables_, kind, *attrs, constant);
      inferable = graph::canonical_attrs(tables_, kind, *attrs, known);
      types = graph::infer_types(tables_, kind, inferable, known);
    } catch (const graph::GraphError&) {
      return false;  // it contradicts what we believe of the op: kept as it is
    }
    if (!fits(node, kind, canonical, types)) return false;
    const bool by_values = sizes_are_values(kind, known);
    for (std::size_t k = 0; k < types.size() && !by_values; ++k) types[k] = with_declared(node, k, types[k]);
    InlineVector<Value, 4> kept;
    for (std::size_t k = 0; k < constant.size(); ++k)
      kept.push_back(constant[k].present ? value_of(inputs[k]) : Value{});
    const NodeId id = graph_.add(kind, tables_.intern(canonical), kept, types, origin_of(at));
    finish(node, at, id);
    known_.learn(graph_, id, kind, inferable, known);
    return true;
  }

  /// Every output is one that we know, and of an element type that we know.
  bool fits(const pb::NodeProto& node, OpKind kind, const graph::AttrBlock& attrs,
            const graph::TypeList& types) const {
    int outputs = node.output_size();
    while (outputs > 0 && node.output(outputs - 1).empty()) --outputs;
    const bool counted =
        static_cast<std::size_t>(outputs) <= types.size() && types.size() == graph::output_count(kind, attrs);
    const bool plain =
        std::all_of(types.begin(), types.end(), [&](TypeId id) { return is_plain(tables_.type(id).dtype); });
    const bool resized = kind == OpKind::reshape && attrs.has(graph::Attr::shape) && has_zero_dim(types[0]);
    return counted && outputs > 0 && plain && !resized;
  }

  /// A 0 in a Reshape's shape copies a dim, so an empty dim cannot be written there.
  bool has_zero_dim(TypeId id) const {
    const graph::TensorType& type = tables_.type(id);
    return std::find(type.dims.begin(), type.dims.end(), 0) != type.dims.end();
  }

  TypeId with_declared(const pb::NodeProto& node, std::size_t output, TypeId inferred) {
    if (output >= static_cast<std::size_t>(node.output_size())) return inferred;
    const auto found = declared_.find(node.output(static_cast<int>(output)));
    return found == declared_.end() ? inferred : merge_types(tables_, inferred, found->second);
  }

  void add_opaque(const pb::NodeProto& node, int at, const std::vector<NamedValue>& named_inputs) {
    std::vector<Value> inputs;
    for (const NamedValue& input : named_inputs) inputs.push_back(value_of(input));
    for (const std::string& name : captured_names(node))
      inputs.push_back(value_of(named(name, describe(node, at))));
    graph::TypeList types(static_cast<std::size_t>(node.output_size()), tables_.type_none());
    const bool call = shadowed_.contains(full_name(node.domain(), node.op_type()));
    const bool standard = is_default_domain(node.domain()) && !call;
    InlineVector<Operand, 4> operands;
    for (const NamedValue& input : named_inputs) operands.push_back(operand_of(input, true));
    if (standard && has_known_bodies(node, store_.opset))
      types = add_bodies(node, at, operands);
    else if (!call)
      types = opaque_types(tables_, node, operands);
    for (std::size_t k = 0; k < types.size(); ++k) types[k] = with_declared(node, k, types[k]);
    const WeightId known = standard ? known_.value_of(node, operands) : WeightId::none;
    if (types.empty()) types.push_back(tables_.type_none());
    if (known != WeightId::none) types[0] = tables_.weights()[known].type;
    tables_.set_opaque_hash(origin_of(at), opaque_content(node, store_.payloads));
    const graph::AttrId attrs = tables_.intern(call ? graph::AttrBlock{} : opaque_attrs(node));
    const NodeId id = graph_.add(OpKind::opaque, attrs, inputs, types, origin_of(at));
    finish(node, at, id);
    known_.note({id, 0}, known);
    if (standard) known_.note({id, 0}, graph_.type_id({id, 0}), opaque_elements(tables_, node, operands));
  }

  /// Builds the node's bodies and gives the types of its outputs. Where a body contradicts itself all of them
  /// stay closed.
  graph::TypeList add_bodies(const pb::NodeProto& node, int at, std::span<const Operand> operands) {
    const std::size_t scopes = store_.scopes.size();
    const std::int32_t sources = store_.source_count, origins = store_.origin_count;
    const auto forget = [&] {
      while (store_.scopes.size() > scopes) store_.scopes.pop_back();
      std::erase_if(store_.bodies, [&](const auto& held) { return held.first >= origins; });
      store_.bodies.erase(origin_of(at));
      scope_.decided.erase(&node);
      store_.source_count = sources;
      store_.origin_count = origins;
    };
    const auto build = [&](int attribute, const Runs& runs, const graph::TypeList& inputs) {
      std::vector<BodyRef>& bodies = store_.bodies[origin_of(at)];
      if (!bodies.empty() && bodies.back().attribute == attribute) forget();
      return add_body(node, at, attribute, runs, inputs);
    };
    try {
      return build_bodies(tables_, node, operands, depth_, build);
    } catch (const OnnxError&) {
      forget();
      return graph::TypeList(static_cast<std::size_t>(node.output_size()), tables_.type_none());
    }
  }

  std::vector<TypeId> add_body(const pb::NodeProto& node, int at, int attribute, const Runs& runs,
                               const graph::TypeList& inputs) {
    const std::string& name = node.attribute(attribute).name();
    if (node.op_type() == "If" && runs.times == 0) scope_.decided.emplace(&node, name == "else_branch");
    store_.bodies[origin_of(at)].push_back({attribute, store_.scopes.size()});
    GraphScope& body = store_.scopes.emplace_back();
    body.proto = &node.attribute(attribute).g();
    body.outer = at_;
    body.path =
        (outer_ == nullptr ? "" : scope_.path + "/") + node.op_type() + "_" + std::to_string(at) + "/" + name;
    body.runs = scope_.runs.times_each(runs);
    return GraphBuilder(store_, store_.scopes.size() - 1, tables_, shadowed_).build_body(inputs, *this);
  }

  std::int32_t origin_of(int at) const { return scope_.first_origin + at; }

  void finish(const pb::NodeProto& node, int at, NodeId id) {
    scope_.nodes[static_cast<std::size_t>(at)] = id;
    for (int k = 0; k < node.output_size(); ++k)
      if (!node.output(k).empty())
        define(node.output(k), {{id, static_cast<std::uint32_t>(k)}, WeightId::none}, describe(node, at));
  }

  ModelStore& store_;
  const std::size_t at_;  // of the scope in the store
  GraphScope& scope_;
  const pb::GraphProto& proto_;
  graph::Tables& tables_;
  const Shadowed& shadowed_;
  const GraphBuilder* outer_ = nullptr;  // of a body
  int depth_ = 0;
  graph::Graph graph_;
  KnownValues known_;
  graph::TypeList input_types_;  // of a body
  std::unordered_map<std::string, TypeId> declared_;
};

}  // namespace

void build_graphs(ModelStore& store, graph::Tables& tables) {
  Shadowed shadowed;
  for (const pb::FunctionProto& function : store.model.functions())
    shadowed.insert(full_name(function.domain(), function.name()));
  GraphScope& main = store.scopes.emplace_back();
  main.proto = &store.model.graph();
  GraphBuilder(store, 0, tables, shadowed).build();
}

}
