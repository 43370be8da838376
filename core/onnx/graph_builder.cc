#include "core/onnx/graph_builder.h"

#include <algorithm>
#include <queue>
#include <unordered_set>

#include "core/graph/evaluate.h"
#include "core/onnx/declared_types.h"
#include "core/onnx/known_values.h"
#include "core/onnx/normal_form.h"
#include "core/onnx/opaque_types.h"
#include "core/onnx/wire.h"

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

bool is_default_domain(const std::string& domain) {
  return domain.empty() || domain == "ai.onnx";
}

/// How op types of one domain are told from those of another.
std::string full_name(const std::string& domain, const std::string& op_type) {
  return is_default_domain(domain) ? op_type : domain + "." + op_type;
}

std::string describe(const pb::NodeProto& node, int at) {
  return "node " + std::to_string(at) + " (" + node.op_type() +
         (node.name().empty() ? "" : " '" + node.name() + "'") + ")";
}

/// Element types that shape inference and rules understand.
bool is_plain(graph::DType dtype) {
  return graph::is_float(dtype) || graph::is_integer(dtype) || dtype == graph::DType::boolean;
}

/// Content of an opaque node, payloads included; names of the node and of its values left out.
Hash128 content_hash(const pb::NodeProto& node, const PayloadTable& payloads) {
  pb::NodeProto content = node;
  for (std::string& input : *content.mutable_input()) input = input.empty() ? "" : "x";
  for (std::string& output : *content.mutable_output()) output = output.empty() ? "" : "x";
  content.clear_name();
  content.clear_doc_string();
  const Rope rope = inflate(content.SerializeAsString(), Message::node, payloads);
  Hasher hasher(8);
  for (const Rope::Piece& piece : rope.pieces) hasher.add(hash_bytes(piece.bytes));
  return hasher.finish();
}

class GraphBuilder {
 public:
  GraphBuilder(ModelStore& store, graph::Tables& tables, const ImportOptions& options)
      : store_(store),
        proto_(store.model.graph()),
        tables_(tables),
        graph_(tables),
        known_(tables, options.known_value_limit) {}

  graph::Graph build() {
    read_declared_types();
    add_initializers_and_inputs();
    for (const pb::FunctionProto& function : store_.model.functions())
      shadowed_.insert(full_name(function.domain(), function.name()));
    store_.nodes.assign(static_cast<std::size_t>(proto_.node_size()), graph::kNoNode);
    for (const int at : node_order()) add_node(at);
    for (const auto& output : proto_.output())
      graph_.add_output(value_of(named(output.name(), "graph output")));
    store_.known_values = known_.take();
    graph_.commit();
    return std::move(graph_);
  }

 private:
  void read_declared_types() {
    for (const auto& info : proto_.value_info()) declared_[info.name()] = declared_type(tables_, info.type());
    for (const auto& info : proto_.output()) declared_[info.name()] = declared_type(tables_, info.type());
  }

  void define(const std::string& name, const NamedValue& value, const std::string& where) {
    if (!store_.names.emplace(name, value).second)
      throw OnnxError("the name '" + name + "' is defined twice", where, "the model is damaged");
  }

  void add_initializers_and_inputs() {
    std::unordered_set<std::string> inputs;
    for (const auto& input : proto_.input()) inputs.insert(input.name());
    const bool overridable = store_.model.ir_version() >= kFirstIrOfOverridableInitializers;
    std::unordered_set<std::string> constants;
    for (int i = 0; i < proto_.initializer_size(); ++i) {
      const pb::TensorProto& tensor = proto_.initializer(i);
      store_.sources.push_back({false, i});
      if (overridable && inputs.contains(tensor.name())) continue;
      define(tensor.name(), {{}, add_source(read_tensor(tensor, store_.payloads, store_.owned), i)},
             "initializers");
      constants.insert(tensor.name());
    }
    for (int i = 0; i < proto_.input_size(); ++i) {
      const auto& input = proto_.input(i);
      if (constants.contains(input.name())) continue;
      const NodeId id = graph_.add_input(declared_type(tables_, input.type()), i);
      define(input.name(), {{id, 0}, WeightId::none}, "graph inputs");
    }
    for (int i = 0; i < proto_.sparse_initializer_size(); ++i) add_sparse(i, inputs);
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
    const auto found = store_.names.find(name);
    if (found == store_.names.end())
      throw OnnxError("uses '" + name + "', which nothing defines", where, "the model is damaged");
    return found->second;
  }

  Value value_of(const NamedValue& named) {
    return named.weight == WeightId::none ? named.value : graph_.weight_value(named.weight);
  }

  /// Indices of the NodeProtos so that definitions come before uses; as they stand where that is so already.
  std::vector<int> node_order() {
    std::unordered_map<std::string, int> maker;
    for (int at = 0; at < proto_.node_size(); ++at)
      for (const std::string& output : proto_.node(at).output())
        if (!output.empty() && !maker.emplace(output, at).second)
          throw OnnxError("the name '" + output + "' is defined twice", describe(proto_.node(at), at),
                          "the model is damaged");
    const auto count = static_cast<std::size_t>(proto_.node_size());
    captures_.resize(count);
    std::vector<std::vector<int>> users(count);
    std::vector<int> waits(count, 0);
    for (int at = 0; at < proto_.node_size(); ++at) {
      const auto i = static_cast<std::size_t>(at);
      captures_[i] = captured_names(proto_.node(at));
      const auto wait_for = [&](const std::string& name) {
        const auto found = maker.find(name);
        if (name.empty() || found == maker.end()) return;
        users[static_cast<std::size_t>(found->second)].push_back(at);
        ++waits[i];
      };
      for (const std::string& input : proto_.node(at).input()) wait_for(input);
      for (const std::string& name : captures_[i]) wait_for(name);
    }
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int at = 0; at < proto_.node_size(); ++at)
      if (waits[static_cast<std::size_t>(at)] == 0) ready.push(at);
    std::vector<int> order;
    while (!ready.empty()) {
      const int at = ready.top();
      ready.pop();
      order.push_back(at);
      for (const int user : users[static_cast<std::size_t>(at)])
        if (--waits[static_cast<std::size_t>(user)] == 0) ready.push(user);
    }
    if (order.size() != count)
      throw OnnxError("its nodes feed each other in a circle", "graph", "the model is damaged");
    return order;
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
    const auto kind = graph::op_from_name(node.op_type());
    const bool known_op =
        kind && speaks(node, *kind) && !shadowed_.contains(full_name(node.domain(), node.op_type()));
    if (!known_op || !captures_[static_cast<std::size_t>(at)].empty() || !add_known(node, at, *kind, inputs))
      add_opaque(node, at, inputs);
  }

  /// Whether the node's domain, at the version that the model imports, has the op as we know it.
  bool speaks(const pb::NodeProto& node, OpKind kind) const {
    const std::string_view domain = graph::op_info(kind).domain;
    if (store_.opset < kFirstOpset) return false;
    if (domain.empty()) return is_default_domain(node.domain());
    return node.domain() == domain && imported_version(store_.model, domain) == kRuntimeDomainVersion;
  }

  bool add_constant(const pb::NodeProto& node, int at) {
    const auto view = read_constant(node, store_.payloads, store_.owned);
    if (!view) return false;
    const auto source = static_cast<int>(store_.sources.size());
    store_.sources.push_back({true, at});
    define(node.output(0), {{}, add_source(*view, source)}, describe(node, at));
    return true;
  }

  /// What inference knows of an input: `folded` adds the values of nodes that compute constants.
  Operand operand_of(const NamedValue& input, bool folded) const {
    if (input.weight != WeightId::none) return {tables_.weights()[input.weight].type, input.weight, true};
    if (!input.value.present()) return {tables_.type_none(), WeightId::none, false};
    return {graph_.type_id(input.value), folded ? known_.find(input.value) : WeightId::none, true};
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
    for (std::size_t k = 0; k < types.size(); ++k) types[k] = with_declared(node, k, types[k]);
    InlineVector<Value, 4> kept;
    for (std::size_t k = 0; k < constant.size(); ++k)
      kept.push_back(constant[k].present ? value_of(inputs[k]) : Value{});
    const NodeId id = graph_.add(kind, tables_.intern(canonical), kept, types, at);
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
    for (const std::string& name : captures_[static_cast<std::size_t>(at)])
      inputs.push_back(value_of(named(name, describe(node, at))));
    graph::TypeList types(static_cast<std::size_t>(node.output_size()), tables_.type_none());
    if (is_default_domain(node.domain()) && !shadowed_.contains(node.op_type())) {
      InlineVector<Operand, 4> operands;
      for (const NamedValue& input : named_inputs) operands.push_back(operand_of(input, true));
      types = opaque_types(tables_, node, operands);
    }
    for (std::size_t k = 0; k < types.size(); ++k) {
      const auto found = declared_.find(node.output(static_cast<int>(k)));
      if (found == declared_.end() || node.output(static_cast<int>(k)).empty()) continue;
      types[k] =
          types[k] == tables_.type_none() ? found->second : merge_types(tables_, types[k], found->second);
    }
    if (types.empty()) types.push_back(tables_.type_none());
    tables_.set_opaque_hash(at, content_hash(node, store_.payloads));
    const NodeId id = graph_.add(OpKind::opaque, tables_.intern(graph::AttrBlock{}), inputs, types, at);
    finish(node, at, id);
    if (!is_default_domain(node.domain()) || inputs.size() != 1 || !inputs[0].present()) return;
    if (const auto dims = part_of_shape(node, graph_.type(inputs[0]))) known_.learn_dims({id, 0}, *dims);
  }

  void finish(const pb::NodeProto& node, int at, NodeId id) {
    store_.nodes[static_cast<std::size_t>(at)] = id;
    for (int k = 0; k < node.output_size(); ++k)
      if (!node.output(k).empty())
        define(node.output(k), {{id, static_cast<std::uint32_t>(k)}, WeightId::none}, describe(node, at));
  }

  ModelStore& store_;
  const pb::GraphProto& proto_;
  graph::Tables& tables_;
  graph::Graph graph_;
  KnownValues known_;
  std::unordered_map<std::string, TypeId> declared_;
  std::unordered_set<std::string> shadowed_;  // op types that a model-local function replaces
  std::vector<std::vector<std::string>> captures_;
};

}  // namespace

graph::Graph build_graph(ModelStore& store, graph::Tables& tables, const ImportOptions& options) {
  return GraphBuilder(store, tables, options).build();
}

}  // namespace regraft::onnx
