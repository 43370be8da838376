#include "core/exec/inputs/small_sizes.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string_view>

#include "core/exec/runtime/model_skeleton.h"

namespace regraft::exec {
namespace {

/// Attributes whose integers are numbers of axes, types or flags, not of elements.
constexpr std::array<std::string_view, 11> kNoSizes{
    "axis",     "axes",       "perm",      "to",    "keepdims",
    "saturate", "batch_axis", "time_axis", "dtype", "noop_with_empty_axes",
    "ceil_mode"};

constexpr std::int64_t kMostElements = 16;  // of a constant that is looked into
constexpr std::size_t kMostBytes = 160;     // of its contents in the file

class ConstantFinder {
 public:
  explicit ConstantFinder(std::int64_t largest) : largest_(largest) {}

  void look(const ::onnx::GraphProto& graph) {
    for (const auto& tensor : graph.initializer()) look(tensor);
    for (const auto& node : graph.node())
      for (const auto& attribute : node.attribute()) look(attribute);
  }

  std::vector<std::int64_t> found() const { return {found_.begin(), found_.end()}; }

 private:
  void look(const ::onnx::AttributeProto& attribute) {
    if (std::ranges::find(kNoSizes, attribute.name()) != kNoSizes.end()) return;
    if (attribute.type() == ::onnx::AttributeProto::INT) add(attribute.i());
    for (const std::int64_t value : attribute.ints()) add(value);
    if (attribute.has_t()) look(attribute.t());
    if (attribute.has_g()) look(attribute.g());
    for (const auto& graph : attribute.graphs()) look(graph);
  }

  void look(const ::onnx::TensorProto& tensor) {
    std::int64_t elements = 1;
    for (const std::int64_t dim : tensor.dims()) {
      elements *= std::clamp<std::int64_t>(dim, 0, kMostElements + 1);
      if (elements > kMostElements) return;
    }
    if (tensor.data_type() == ::onnx::TensorProto::INT64) {
      for (const std::int64_t value : tensor.int64_data()) add(value);
      look_raw<std::int64_t>(tensor.raw_data());
    } else if (tensor.data_type() == ::onnx::TensorProto::INT32) {
      for (const std::int32_t value : tensor.int32_data()) add(value);
      look_raw<std::int32_t>(tensor.raw_data());
    }
  }

  template <typename T>
  void look_raw(const std::string& bytes) {
    for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      T value;
      std::memcpy(&value, bytes.data() + at, sizeof value);
      add(value);
    }
  }

  void add(std::int64_t value) {
    if (value >= 1 && value <= largest_) found_.insert(value);
    if (value <= -1 && value >= -largest_) found_.insert(-value);
  }

  std::int64_t largest_;
  std::set<std::int64_t> found_;
};

}  // namespace

std::vector<std::int64_t> small_constants(const std::filesystem::path& model, std::int64_t largest) {
  ConstantFinder finder(largest);
  finder.look(read_skeleton(model, kMostBytes));
  return finder.found();
}

std::vector<std::int64_t> telling_sizes(std::span<const std::int64_t> constants, std::int64_t largest) {
  std::vector<std::int64_t> sizes;
  const auto add = [&](std::int64_t size) {
    if (size >= 1 && size <= largest && std::ranges::find(sizes, size) == sizes.end()) sizes.push_back(size);
  };
  for (const std::int64_t size : {2, 3, 4}) add(size);
  for (const std::int64_t constant : constants)
    for (const std::int64_t size : {constant, constant - 1, constant + 1}) add(size);
  for (const std::int64_t size : {5, 6, 8}) add(size);
  return sizes;
}

}
