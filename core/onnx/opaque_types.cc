#include "core/onnx/opaque_types.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "core/graph/einsum_products.h"
#include "core/onnx/node_names.h"
#include "core/onnx/normal_form.h"
#include "core/onnx/opaque_moves.h"
#include "core/onnx/protobuf_wire.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;
using graph::Dim;
using graph::DType;
using graph::TensorType;

Answer same(const Question& q) {
  return {q.input(0)};
}
Answer same_dtype(const Question& q) {
  return Answer(q.outputs(), unranked(q.input(0).dtype));
}
Answer truth(const Question& q) {
  return {of_dtype(DType::boolean, q.input(0))};
}
Answer cast(const Question& q) {
  return {of_dtype(q.dtype("to", DType::undefined), q.input(0))};
}
Answer like(const Question& q) {
  return {of_dtype(q.dtype("dtype", q.input(0).dtype), q.input(0))};
}

Answer broadcast(const Question& q) {
  const bool equal = q.input(0) == q.input(1);
  return {equal ? q.input(0) : unranked(q.input(0).dtype)};
}

Answer dropout(const Question& q) {
  return {q.input(0), of_dtype(DType::boolean, q.input(0))};
}

/// Convolution and pooling: batch stays; channels and positions are what the form says that we did not
/// understand.
Answer window(const Question& q) {
  TensorType type = q.same_rank(0);
  if (type.rank() > 0) type.dims[0] = q.input(0).dims[0];
  return {type, of_dtype(DType::int64, type)};
}

Answer integer_matmul(const Question& q) {
  return {of_dtype(DType::int32, q.as_if(graph::OpKind::matmul, 0, 1))};
}
Answer integer_conv(const Question& q) {
  return {of_dtype(DType::int32, q.as_if(graph::OpKind::conv, 0, 1))};
}
Answer quantised_matmul(const Question& q) {
  return {of_dtype(q.input(7).dtype, q.as_if(graph::OpKind::matmul, 0, 3))};
}
Answer quantised_conv(const Question& q) {
  return {of_dtype(q.input(7).dtype, q.as_if(graph::OpKind::conv, 0, 3))};
}

Answer reduce(const Question& q) {
  const bool keeps = q.integer("keepdims", 1) != 0, all = q.integer("noop_with_empty_axes", 0) == 0;
  const TensorType x = q.input(0);
  const auto rank = static_cast<std::int64_t>(x.rank());
  const Elements axes = q.has("axes") ? q.integers("axes") : q.elements(1);
  const bool known = std::ranges::all_of(axes, [&](graph::Element axis) {
    return axis.is_number() && axis.value >= -rank && axis.value < rank;
  });
  if (!x.ranked || !known || (axes.empty() && (!all || (q.inputs() > 1 && rank != 1))))
    return {keeps ? q.same_rank(0) : unranked(x.dtype)};
  TensorType type{x.dtype, true, {}};
  for (std::int64_t i = 0; i < rank; ++i) {
    const bool reduced = axes.empty() || std::ranges::any_of(axes, [&](graph::Element axis) {
                           return axis.value == i || axis.value == i - rank;
                         });
    if (!reduced || keeps) type.dims.push_back(reduced ? 1 : x.dims[static_cast<std::size_t>(i)]);
  }
  return {type};
}

/// By the labels of its equation.
Answer einsum(const Question& q) {
  const std::string equation = q.text("equation");
  std::vector<graph::Dims> dims;
  for (std::size_t i = 0; i < q.inputs(); ++i) {
    if (!q.input(i).ranked) return same_dtype(q);
    dims.push_back(q.input(i).dims);
  }
  const auto out = graph::einsum_dims(q.tables(), equation, dims);
  return {out ? TensorType{q.input(0).dtype, true, *out} : unranked(q.input(0).dtype)};
}

Answer arg_extreme(const Question& q) {
  TensorType type = of_dtype(DType::int64, q.input(0));
  const auto axis = q.axis(0);
  if (!axis) return {unranked(DType::int64)};
  if (q.integer("keepdims", 1) != 0)
    type.dims[*axis] = 1;
  else
    type.dims.erase(*axis);
  return {type};
}

Answer top_k(const Question& q) {
  TensorType type = q.input(0);
  const auto axis = q.axis(-1);
  if (!axis) return {unranked(type.dtype), unranked(DType::int64)};
  const Elements count = q.elements(1);
  type.dims[*axis] = count.size() == 1 && count[0].is_dim() ? count[0].value : q.fresh();
  return {type, of_dtype(DType::int64, type)};
}

Answer non_zero(const Question& q) {
  const Dim rank = q.input(0).ranked ? static_cast<Dim>(q.input(0).rank()) : q.fresh();
  return {{DType::int64, true, {rank, q.fresh()}}};
}

Answer size(const Question&) {
  return {{DType::int64, true, {}}};
}
Answer range(const Question& q) {
  const auto start = q.elements(0), limit = q.elements(1), delta = q.elements(2);
  const bool counts = start.size() == 1 && start[0] == graph::Element::number(0) && limit.size() == 1 &&
                      limit[0].is_dim() && delta.size() == 1 && delta[0] == graph::Element::number(1);
  return {{q.input(0).dtype, true, {counts ? limit[0].value : q.fresh()}}};
}
Answer non_max_suppression(const Question& q) {
  return {{DType::int64, true, {q.fresh(), 3}}};
}

Answer one_hot(const Question& q) {
  TensorType type = of_dtype(q.input(2).dtype, q.same_rank(0));
  if (type.ranked) type.dims.push_back(q.fresh());
  return {type};
}

/// LSTM, GRU, RNN with the sequence first.
Answer recurrent(const Question& q) {
  const TensorType x = q.input(0);
  const std::int64_t hidden = q.integer("hidden_size", 0);
  if (!x.ranked || x.rank() != 3 || hidden <= 0 || q.integer("layout", 0) != 0) return same_dtype(q);
  const Dim directions = q.has_text("direction", "bidirectional") ? 2 : 1;
  const TensorType last{x.dtype, true, {directions, x.dims[1], hidden}};
  return {{x.dtype, true, {x.dims[0], directions, x.dims[1], hidden}}, last, last};
}

Answer dequantize(const Question& q) {
  return {of_dtype(q.input(1).dtype, q.input(0))};
}

Answer quantize(const Question& q) {
  const DType stored = q.input(2).dtype == DType::undefined ? DType::uint8 : q.input(2).dtype;
  return {of_dtype(q.dtype("output_dtype", stored), q.input(0))};
}

Answer dynamic_quantize(const Question& q) {
  return {of_dtype(DType::uint8, q.input(0)), {DType::float32, true, {}}, {DType::uint8, true, {}}};
}

/// With start or end, which the Shape that is known does not have.
Answer shape_part(const Question& q) {
  const auto part = part_of_shape(q.node(), q.input(0));
  return {{DType::int64, true, {part ? static_cast<Dim>(part->size()) : q.fresh()}}};
}

using Rule = Answer (*)(const Question&);

/// Op types, separated by blanks, with the rule that gives their types.
const std::unordered_map<std::string_view, Rule>& rules() {
  static const std::unordered_map<std::string_view, Rule> table = [] {
    std::unordered_map<std::string_view, Rule> map;
    const auto add = [&](Rule rule, std::string_view names) {
      for (std::size_t end = 0; !names.empty(); names.remove_prefix(std::min(end + 1, names.size()))) {
        end = std::min(names.find(' '), names.size());
        map.emplace(names.substr(0, end), rule);
      }
    };
    add(same,
        "Acos Acosh Asin Asinh Atan Atanh BatchNormalization BitwiseNot Celu Cosh CumSum "
        "GroupNormalization Hardmax Identity InstanceNormalization LRN LayerNormalization "
        "LogSoftmax LpNormalization MeanVarianceNormalization Mish RMSNormalization "
        "ReverseSequence RotaryEmbedding Scatter ScatterElements ScatterND Selu Shrink Sinh "
        "Softmax Softsign Swish Tan ThresholdedRelu Trilu");
    add(same_rank, "Pad");
    add(same_dtype,
        "Compress Det Expand Gather MatMul Reshape Squeeze Tile Transpose "
        "Unsqueeze RoiAlign GridSample Unique");
    add(truth, "IsInf IsNaN");
    add(broadcast, "BitShift BitwiseAnd BitwiseOr BitwiseXor Mod Xor");
    add(window, "AveragePool Conv ConvTranspose LpPool MaxPool");
    add(reduce,
        "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
        "ReduceSum ReduceSumSquare");
    add(einsum, "Einsum");
    add(gather_nd, "GatherND");
    add(arg_extreme, "ArgMax ArgMin");
    add(like, "EyeLike RandomNormalLike RandomUniformLike Bernoulli");
    add(recurrent, "GRU LSTM RNN com.microsoft.DynamicQuantizeLSTM");
    add(integer_conv, "ConvInteger");
    add(cast, "Cast");
    add(dropout, "Dropout");
    add(top_k, "TopK");
    add(resize, "Resize Upsample");
    add(non_zero, "NonZero");
    add(size, "Size");
    add(range, "Range");
    add(non_max_suppression, "NonMaxSuppression");
    add(one_hot, "OneHot");
    add(dequantize, "DequantizeLinear");
    add(quantize, "QuantizeLinear");
    add(dynamic_quantize, "DynamicQuantizeLinear");
    add(shape_part, "Shape");
    add(depth_to_space, "DepthToSpace");
    add(space_to_depth, "SpaceToDepth");
    add(slice, "Slice");
    add(split, "Split");
    add(quantised_conv, "QLinearConv");
    add(quantised_matmul, "QLinearMatMul");
    add(integer_matmul, "MatMulInteger");
    return map;
  }();
  return table;
}

}  // namespace

graph::AttrBlock opaque_attrs(const pb::NodeProto& node) {
  graph::AttrBlock attrs{{graph::Attr::op_type, full_name(node.domain(), node.op_type())}};
  for (const graph::Attr attr : {graph::Attr::equation, graph::Attr::kernel_shape, graph::Attr::mode})
    for (const pb::AttributeProto& attribute : node.attribute())
      if (auto value = attribute.name() == graph::attr_name(attr) ? attribute_value(attribute) : std::nullopt)
        attrs.set(attr, std::move(*value));
  return attrs;
}

Hash128 opaque_content(const pb::NodeProto& node, const PayloadTable& payloads) {
  pb::NodeProto content = node;
  for (std::string& input : *content.mutable_input()) input = input.empty() ? "" : "x";
  for (std::string& output : *content.mutable_output()) output = output.empty() ? "" : "x";
  content.clear_name();
  content.clear_doc_string();
  const MessagePieces message = inflate(content.SerializeAsString(), Message::node, payloads);
  Hasher hasher(8);
  for (const MessagePieces::Piece& piece : message.pieces) hasher.add(hash_bytes(piece.bytes));
  return hasher.finish();
}

graph::TypeList opaque_types(graph::Tables& tables, const pb::NodeProto& node,
                             std::span<const graph::Operand> operands) {
  graph::TypeList types(static_cast<std::size_t>(node.output_size()), tables.type_none());
  const auto rule = rules().find(full_name(node.domain(), node.op_type()));
  if (rule == rules().end()) return types;
  try {
    const Answer answer = rule->second(Question(tables, node, operands));
    for (std::size_t k = 0; k < types.size() && k < answer.size(); ++k)
      if (answer[k].dtype != DType::undefined) types[k] = tables.intern(answer[k]);
  } catch (const graph::GraphError&) {
    // Sizes that do not fit each other or 64 bits: the runtime will say so.
  }
  return types;
}

}
