#include "core/onnx/recurrent_nodes.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/graph/op.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;
using graph::OpKind;

constexpr std::array<std::string_view, 3> kFunctions{"Sigmoid", "Tanh", "Tanh"};  // a GRU has two

bool is_number(const pb::AttributeProto& attribute, std::int64_t value) {
  return attribute.type() == pb::AttributeProto::INT && attribute.i() == value;
}

bool is_plain(const pb::AttributeProto& attribute, OpKind kind, std::int64_t hidden) {
  const std::string& name = attribute.name();
  const int functions = kind == OpKind::lstm ? 3 : 2;
  if (name == "hidden_size") return is_number(attribute, hidden);
  if (name == "linear_before_reset") return kind == OpKind::gru && is_number(attribute, 1);
  if (name == "layout" || name == "input_forget") return is_number(attribute, 0);
  if (name == "direction") return attribute.s() == "forward";
  return name == "activations" && attribute.strings_size() == functions &&
         std::equal(attribute.strings().begin(), attribute.strings().end(), kFunctions.begin());
}

void add_number(pb::NodeProto& node, const char* name, std::int64_t value) {
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(pb::AttributeProto::INT);
  attribute.set_i(value);
}

}  // namespace

bool is_plain_recurrence(const pb::NodeProto& node, OpKind kind, const graph::Tables& tables,
                         std::span<const graph::Operand> operands) {
  if (operands.size() < 3 || operands.size() > graph::op_info(kind).max_inputs) return false;
  const graph::TensorType& state_weights = tables.type(operands[2].type);
  if (!state_weights.ranked || state_weights.rank() != 3) return false;
  const auto& attributes = node.attribute();
  const bool named = kind == OpKind::lstm || std::ranges::any_of(attributes, [](const auto& attribute) {
                       return attribute.name() == "linear_before_reset";
                     });
  return named && std::ranges::all_of(attributes, [&](const pb::AttributeProto& attribute) {
           return attribute.ref_attr_name().empty() && is_plain(attribute, kind, state_weights.dims[2]);
         });
}

void add_recurrence_attributes(pb::NodeProto& node, OpKind kind, std::int64_t hidden) {
  add_number(node, "hidden_size", hidden);
  if (kind == OpKind::gru) add_number(node, "linear_before_reset", 1);
}

}
