#include <onnx/onnx_pb.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "core/exec/inputs.h"
#include "core/exec/model_skeleton.h"

namespace regraft::exec {
namespace {

/// An op that looks elements up: which input holds the indices, which one is looked up, and how the limit
/// follows.
struct LookUp {
  std::string_view op;
  int indices;
  int data;
  enum class Limit { axis, first_dim, smallest_dim } limit;
};

constexpr LookUp kLookUps[] = {
    {"Gather", 1, 0, LookUp::Limit::axis},
    {"GatherElements", 1, 0, LookUp::Limit::axis},
    {"GatherND", 1, 0, LookUp::Limit::smallest_dim},
    {"ScatterElements", 1, 0, LookUp::Limit::axis},
    {"ScatterND", 1, 0, LookUp::Limit::smallest_dim},
    {"EmbedLayerNormalization", 0, 2, LookUp::Limit::first_dim},
    {"EmbedLayerNormalization", 1, 4, LookUp::Limit::first_dim},
};

/// Ops that only move the elements of input 0 (of all inputs for Concat).
constexpr std::string_view kMovers[] = {"Identity", "Cast",  "Reshape", "Squeeze", "Unsqueeze", "Transpose",
                                        "Flatten",  "Slice", "Split",   "Expand",  "Tile",      "Concat"};

using Dims = std::vector<std::int64_t>;

class RangeFinder {
 public:
  explicit RangeFinder(const ::onnx::GraphProto& graph) {
    for (const auto& tensor : graph.initializer()) {
      shapes_[tensor.name()] = Dims(tensor.dims().begin(), tensor.dims().end());
    }
    for (const auto& info : graph.value_info()) remember(info);
    for (const auto& info : graph.input()) remember(info);
    for (const auto& node : graph.node()) {
      for (int slot = 0; slot < node.input_size(); ++slot) users_[node.input(slot)].push_back({&node, slot});
      for (const auto& attribute : node.attribute()) {
        if (node.op_type() != "Constant" || !attribute.has_t()) continue;
        shapes_[node.output(0)] = Dims(attribute.t().dims().begin(), attribute.t().dims().end());
      }
    }
  }

  /// The smallest limit on the indices held by `value`, if any use gives one.
  std::optional<std::int64_t> limit(const std::string& value) {
    std::set<std::string> seen;
    return limit(value, seen);
  }

 private:
  struct User {
    const ::onnx::NodeProto* node;
    int slot;
  };

  void remember(const ::onnx::ValueInfoProto& info) {
    if (!info.type().tensor_type().has_shape()) return;
    Dims dims;
    for (const auto& dim : info.type().tensor_type().shape().dim()) {
      if (!dim.has_dim_value()) return;
      dims.push_back(dim.dim_value());
    }
    shapes_[info.name()] = dims;
  }

  std::optional<std::int64_t> limit(const std::string& value, std::set<std::string>& seen) {
    std::optional<std::int64_t> found;
    const auto tighten = [&](std::optional<std::int64_t> other) {
      if (other && (!found || *other < *found)) found = other;
    };
    if (!seen.insert(value).second) return found;
    for (const User& user : users_[value]) {
      for (const LookUp& look_up : kLookUps) {
        if (look_up.op == user.node->op_type() && look_up.indices == user.slot)
          tighten(limit_of(look_up, *user.node));
      }
      const bool moves = std::ranges::find(kMovers, user.node->op_type()) != std::end(kMovers);
      if (!moves || (user.slot != 0 && user.node->op_type() != "Concat")) continue;
      for (const std::string& output : user.node->output()) tighten(limit(output, seen));
    }
    return found;
  }

  std::optional<std::int64_t> limit_of(const LookUp& look_up, const ::onnx::NodeProto& node) const {
    if (node.input_size() <= look_up.data) return std::nullopt;
    const auto shape = shapes_.find(node.input(look_up.data));
    if (shape == shapes_.end() || shape->second.empty()) return std::nullopt;
    const Dims& dims = shape->second;
    if (look_up.limit == LookUp::Limit::first_dim) return dims[0];
    if (look_up.limit == LookUp::Limit::smallest_dim) return std::ranges::min(dims);
    std::int64_t axis = 0;
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() == "axis") axis = attribute.i();
    }
    if (axis < 0) axis += static_cast<std::int64_t>(dims.size());
    if (axis < 0 || axis >= static_cast<std::int64_t>(dims.size())) return std::nullopt;
    return dims[static_cast<std::size_t>(axis)];
  }

  std::unordered_map<std::string, Dims> shapes_;
  std::unordered_map<std::string, std::vector<User>> users_;
};

}  // namespace

IntegerRanges infer_ranges(const std::filesystem::path& model) {
  const ::onnx::GraphProto graph = read_skeleton(model);
  RangeFinder finder(graph);
  IntegerRanges ranges;
  for (const auto& input : graph.input()) {
    const auto dtype = static_cast<DType>(input.type().tensor_type().elem_type());
    if (!graph::is_integer(dtype)) continue;
    const std::optional<std::int64_t> limit = finder.limit(input.name());
    if (limit && *limit > 0) ranges[input.name()] = {0, *limit};
  }
  return ranges;
}

}  // namespace regraft::exec
