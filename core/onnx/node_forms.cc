#include "core/onnx/node_forms.h"

#include <algorithm>

#include "core/graph/einsum_products.h"
#include "core/graph/evaluate.h"
#include "core/graph/opset.h"
#include "core/onnx/onnx_error.h"
#include "core/onnx/recurrent_nodes.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;
using graph::Attr;
using graph::AttrBlock;
using graph::AttrValue;
using graph::Ints;
using graph::OpKind;

void add_attribute(pb::NodeProto& node, const std::string& name, const AttrValue& value) {
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    attribute.set_type(pb::AttributeProto::INT);
    attribute.set_i(*integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    attribute.set_type(pb::AttributeProto::FLOAT);
    attribute.set_f(static_cast<float>(*real));
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    attribute.set_type(pb::AttributeProto::STRING);
    attribute.set_s(*text);
  } else {
    attribute.set_type(pb::AttributeProto::INTS);
    for (const std::int64_t item : std::get<Ints>(value)) attribute.add_ints(item);
  }
}

double number(const AttrValue& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return static_cast<double>(std::get<std::int64_t>(value));
}

/// The opset from which an operand is an input rather than an attribute.
std::int64_t input_since(OpKind kind) {
  switch (kind) {
    case OpKind::reshape:
    case OpKind::expand:
    case OpKind::tile:
      return 5;
    case OpKind::slice:
      return 10;
    case OpKind::clip:
    case OpKind::pad:
      return 11;
    case OpKind::squeeze:
    case OpKind::unsqueeze:
    case OpKind::split:
    case OpKind::reduce_sum:
      return 13;
    default:
      return 18;  // the other reductions
  }
}

class NodeWriter {
 public:
  NodeWriter(const graph::Graph& graph, graph::NodeId id, std::int64_t opset, std::vector<std::string> inputs,
             ConstantMaker& constants, pb::NodeProto& out)
      : graph_(graph),
        node_(graph.node(id)),
        attrs_(graph.attrs(id)),
        op_(graph::op_info(node_.kind)),
        opset_(opset),
        inputs_(std::move(inputs)),
        constants_(constants),
        out_(out) {}

  void write() {
    std::vector<graph::TypeId> types;
    for (const graph::Value input : node_.inputs)
      types.push_back(input.present() ? graph_.type_id(input) : graph_.tables().type_none());
    if (const std::string problem = graph::missing_form(graph_.tables(), node_.kind, attrs_, types);
        !problem.empty())
      refuse(problem);
    out_.set_op_type(std::string(op_.name));
    if (!op_.domain.empty()) out_.set_domain(std::string(op_.domain));
    if (node_.kind == OpKind::resize) return write_resize();
    for (const auto& [attr, value] : attrs_.entries()) {
      const auto* operand = operand_of(attr);
      if (operand)
        write_operand(*operand, value);
      else
        write_attribute(attr, value);
    }
    if (graph::is_recurrence(node_.kind))
      add_recurrence_attributes(out_, node_.kind, graph_.type(node_.inputs[2]).dims[2]);
    if (node_.kind == OpKind::gemm && inputs_.size() < 3 && opset_ < 11)
      inputs_.resize(3), inputs_[2] = constants_.scalar(dtype(), 0);
    while (!inputs_.empty() && inputs_.back().empty()) inputs_.pop_back();
    for (const std::string& input : inputs_) out_.add_input(input);
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw OnnxError(problem + ", the model has " + std::to_string(opset_),
                    "a rewritten " + std::string(op_.name), "leave out the rule that made it");
  }

  graph::DType dtype() const { return graph_.type(node_.inputs[0]).dtype; }

  const graph::OperandAttr* operand_of(Attr attr) const {
    for (const graph::OperandAttr& operand : op_.operand_attrs)
      if (operand.attr == attr) return &operand;
    return nullptr;
  }

  /// By factors, which need no sizes of the dims that stay; in the form that the runtime's blocked layout
  /// takes.
  void write_resize() {
    constexpr std::int64_t kFirstWithModes = 11, kFirstWithoutRegion = 13;
    const graph::TensorType& x = graph_.type(node_.inputs[0]);
    const Ints& sizes = attrs_.ints(Attr::shape);
    std::vector<float> factors(2, 1.0f);
    for (std::size_t i = 0; i < sizes.size(); ++i)
      factors.push_back(x.dims[i + 2] == sizes[i] ? 1.0f : static_cast<float>(sizes[i]));
    out_.add_input(inputs_[0]);
    if (opset_ >= kFirstWithModes) {
      out_.add_input(opset_ < kFirstWithoutRegion ? constants_.reals({}) : "");
      add_attribute(out_, "coordinate_transformation_mode", std::string("asymmetric"));
      add_attribute(out_, "nearest_mode", std::string("floor"));
    }
    out_.add_input(constants_.reals(factors));
    add_attribute(out_, "mode", std::string("nearest"));
  }

  void write_operand(const graph::OperandAttr& operand, const AttrValue& value) {
    if (opset_ < input_since(node_.kind)) {
      if (node_.kind == OpKind::slice && operand.attr == Attr::steps) return;  // all 1
      const bool real = operand.attr == Attr::min || operand.attr == Attr::max || operand.attr == Attr::value;
      return add_attribute(out_, std::string(graph::attr_name(operand.attr)),
                           real ? AttrValue(number(value)) : value);
    }
    if (inputs_.size() <= operand.input) inputs_.resize(operand.input + std::size_t{1});
    std::string& slot = inputs_[operand.input];
    if (const auto* list = std::get_if<Ints>(&value))
      slot = constants_.integers(*list);
    else
      slot = constants_.scalar(dtype(), number(value));
  }

  void write_attribute(Attr attr, const AttrValue& value) {
    if (is_absent_in_opset(attr, value)) return;
    if (node_.kind == OpKind::constant_of_shape) {
      if (attr == Attr::value) write_fill_value(number(value));
      return;
    }
    if (attr == Attr::equation)
      return add_attribute(out_, "equation",
                           graph::einsum_equation(std::get<Ints>(value), graph_.type(node_.inputs[0]).rank(),
                                                  graph_.type(node_.inputs[1]).rank()));
    add_attribute(out_, std::string(graph::attr_name(attr)), value);
  }

  /// Attributes that came with a later opset, at the value that they had no name for before.
  bool is_absent_in_opset(Attr attr, const AttrValue& value) const {
    const bool pool = node_.kind == OpKind::max_pool || node_.kind == OpKind::average_pool;
    if (pool && attr == Attr::ceil_mode) return opset_ < 10;
    if (node_.kind == OpKind::quantize_linear || node_.kind == OpKind::dequantize_linear)
      return opset_ < 13 || attr == Attr::to;  // one scale for all; the zero point's type
    if (!pool || attr != Attr::dilations) return false;
    const Ints& dilations = std::get<Ints>(value);
    return std::all_of(dilations.begin(), dilations.end(), [](std::int64_t d) { return d == 1; });
  }

  void write_fill_value(double value) {
    pb::AttributeProto& attribute = *out_.add_attribute();
    attribute.set_name("value");
    attribute.set_type(pb::AttributeProto::TENSOR);
    graph::HostTensor tensor;
    tensor.dtype = static_cast<graph::DType>(attrs_.integer(Attr::to));
    tensor.dims = {1};
    if (graph::is_float(tensor.dtype))
      tensor.real = {value};
    else
      tensor.integer = {static_cast<std::int64_t>(value)};
    const auto bytes = tensor.to_bytes();
    attribute.mutable_t()->set_data_type(static_cast<int>(tensor.dtype));
    attribute.mutable_t()->add_dims(1);
    constants_.set_contents(*attribute.mutable_t(), bytes);
  }

  const graph::Graph& graph_;
  const graph::Node& node_;
  const AttrBlock& attrs_;
  const graph::OpInfo& op_;
  std::int64_t opset_;
  std::vector<std::string> inputs_;
  ConstantMaker& constants_;
  pb::NodeProto& out_;
};

}  // namespace

void write_node(const graph::Graph& graph, graph::NodeId id, std::int64_t opset,
                std::vector<std::string> inputs, ConstantMaker& constants, pb::NodeProto& out) {
  NodeWriter(graph, id, opset, std::move(inputs), constants, out).write();
}

}
