#include "core/exec/inputs/find_meanings.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <set>
#include <unordered_map>

#include "core/exec/inputs/input_readers.h"
#include "core/exec/runtime/model_skeleton.h"
#include "core/graph/types.h"
#include "core/onnx/import.h"

namespace regraft::exec {
namespace {

namespace pb = ::onnx;
using Integers = std::vector<std::int64_t>;

constexpr std::size_t kKeptBytes = 128;  // of a constant that is compared with, in the file
constexpr int kDeepest = 64;             // ops that are followed in a row

std::string full_name(const pb::NodeProto& node) {
  const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
  return standard ? node.op_type() : node.domain() + "." + node.op_type();
}

template <typename To, typename From>
void append(std::vector<To>& values, const From& from) {
  values.insert(values.end(), from.begin(), from.end());
}

template <typename T, typename To>
void append_raw(std::vector<To>& values, const std::string& bytes) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    values.push_back(static_cast<To>(value));
  }
}

/// The elements of a small constant of a usual type; empty for others.
std::vector<double> numbers_of(const pb::TensorProto& tensor) {
  std::vector<double> values;
  switch (tensor.data_type()) {
    case pb::TensorProto::INT64:
      append(values, tensor.int64_data());
      append_raw<std::int64_t>(values, tensor.raw_data());
      break;
    case pb::TensorProto::INT32:
      append(values, tensor.int32_data());
      append_raw<std::int32_t>(values, tensor.raw_data());
      break;
    case pb::TensorProto::FLOAT:
      append(values, tensor.float_data());
      append_raw<float>(values, tensor.raw_data());
      break;
    default:
      break;
  }
  return values;
}

std::int64_t axis_attribute(const pb::NodeProto& node, std::int64_t otherwise) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == "axis" || attribute.name() == "time_axis") return attribute.i();
  return otherwise;
}

Integers integers_attribute(const pb::NodeProto& node, std::string_view name) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return {attribute.ints().begin(), attribute.ints().end()};
  return {};
}

/// For each axis the stride, then the padding of both sides less what a window has beyond one element.
Integers windows_of(const pb::NodeProto& node) {
  Integers values;
  const Integers strides = integers_attribute(node, "strides"), pads = integers_attribute(node, "pads"),
                 kernel = integers_attribute(node, "kernel_shape");
  const std::size_t axes = std::max({strides.size(), pads.size() / 2, kernel.size()});
  for (std::size_t i = 0; i < axes; ++i) {
    values.push_back(strides.empty() ? 1 : strides[i]);
    values.push_back((pads.empty() ? 0 : pads[i] + pads[i + axes]) - (kernel.empty() ? 0 : kernel[i] - 1));
  }
  return values;
}

bool is_named_mask(const std::string& name) {
  std::string lower = name;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower.find("mask") != std::string::npos || lower.find("bias") != std::string::npos;
}

/// Where the elements of an input have come to.
struct Place {
  std::string value;
  std::int64_t offset = 0;            // added on the way
  std::int64_t place = 0, total = 0;  // within a vector that Concat made; total 0: it is whole
};

class Follower {
 public:
  Follower(const onnx::ImportedModel& model, const pb::GraphProto& graph) : model_(model) { read(graph); }

  std::optional<InputMeaning> meaning_of(const pb::ValueInfoProto& input) {
    best_.reset();
    seen_.clear();
    const auto dtype = static_cast<graph::DType>(input.type().tensor_type().elem_type());
    is_float_ = graph::is_float(dtype);
    input_ = input.name();
    follow({input.name()}, 0);
    return best_;
  }

 private:
  struct User {
    const pb::NodeProto* node;
    int slot;
  };

  void read(const pb::GraphProto& graph) {
    for (const auto& tensor : graph.initializer()) constants_[tensor.name()] = numbers_of(tensor);
    for (const auto& node : graph.node()) {
      for (int slot = 0; slot < node.input_size(); ++slot) users_[node.input(slot)].push_back({&node, slot});
      for (const auto& attribute : node.attribute()) {
        if (node.op_type() == "Constant" && attribute.has_t())
          constants_[node.output(0)] = numbers_of(attribute.t());
        if (attribute.has_g()) read(attribute.g());
      }
    }
  }

  std::vector<Extent> extents_of(const std::string& value) const {
    std::vector<Extent> extents;
    const auto id = model_.type_of(value);
    if (!id) return extents;
    for (const graph::Dim dim : model_.tables().type(*id).dims)
      extents.push_back(graph::is_symbol(dim)
                            ? Extent{-1, model_.tables().symbol_name(graph::dim_symbol(dim))}
                            : Extent{dim, {}});
    return extents;
  }

  const std::vector<double>* constant(const pb::NodeProto& node, int slot) const {
    if (slot >= node.input_size()) return nullptr;
    const auto found = constants_.find(node.input(slot));
    return found == constants_.end() || found->second.empty() ? nullptr : &found->second;
  }

  void follow(const Place& at, int depth) {
    if (depth > kDeepest || !seen_.insert(at.value).second) return;
    for (const User& user : users_[at.value]) {
      const pb::NodeProto& node = *user.node;
      for (const InputReader& reader : input_readers())
        if (reader.slot == user.slot && reader.op == full_name(node)) consider(meant(reader, node, at));
      follow_compared(node, user.slot, at);
      follow_mask(node, user.slot);
      follow_into(node, user.slot, at, depth);
    }
  }

  InputMeaning meant(const InputReader& reader, const pb::NodeProto& node, const Place& at) const {
    InputMeaning meaning;
    meaning.meaning = reader.meaning;
    meaning.offset = at.offset;
    meaning.place = at.place;
    meaning.total = at.total;
    meaning.reader = node.op_type();
    std::tie(meaning.low, meaning.high) = std::pair(reader.low, reader.high);
    if (reader.meaning == Meaning::image || reader.meaning == Meaning::unpooled)
      meaning.values = windows_of(node);
    if (reader.data >= 0 && reader.data < node.input_size())
      meaning.dims = extents_of(node.input(reader.data));
    const auto rank = static_cast<std::int64_t>(meaning.dims.size());
    meaning.axis = axis_attribute(node, reader.axis);
    if (meaning.axis < 0) meaning.axis += rank;
    const bool has_axis = meaning.axis >= 0 && meaning.axis < rank;
    if (reader.limit == InputReader::Limit::axis && has_axis)
      meaning.limits = {meaning.dims[static_cast<std::size_t>(meaning.axis)]};
    if (reader.limit == InputReader::Limit::first_dim && rank > 0) meaning.limits = {meaning.dims[0]};
    if (reader.limit == InputReader::Limit::smallest_dim) meaning.limits = meaning.dims;
    return meaning;
  }

  /// Indices keep the limits of all their uses; else the meaning that determines most counts.
  void consider(InputMeaning meaning) {
    if (best_ && best_->meaning == meaning.meaning) {
      if (best_->offset == meaning.offset)
        best_->limits.insert(best_->limits.end(), meaning.limits.begin(), meaning.limits.end());
      for (const std::int64_t value : meaning.values)
        if (std::ranges::find(best_->values, value) == best_->values.end()) best_->values.push_back(value);
      return;
    }
    if (!best_ || best_->meaning < meaning.meaning) best_ = std::move(meaning);
  }

  /// What it is compared with says which numbers make a difference.
  void follow_compared(const pb::NodeProto& node, int slot, const Place& at) {
    if (is_float_ || node.op_type() != "Equal") return;
    const std::vector<double>* other = constant(node, 1 - slot);
    if (!other || other->size() != 1) return;
    InputMeaning meaning;
    meaning.meaning = Meaning::choice;
    const std::int64_t value = static_cast<std::int64_t>(other->front()) - at.offset;
    meaning.values = value == 0 || value == 1 ? Integers{0, 1} : Integers{value};
    meaning.reader = "Equal";
    consider(std::move(meaning));
  }

  /// 1 - mask, and what is added to the scores of a softmax.
  void follow_mask(const pb::NodeProto& node, int slot) {
    InputMeaning meaning;
    meaning.reader = node.op_type();
    const std::vector<double>* ones = node.op_type() == "Sub" && slot == 1 ? constant(node, 0) : nullptr;
    if (ones && *ones == std::vector<double>{1}) meaning.meaning = Meaning::mask;
    const bool added = node.op_type() == "Add" && is_float_ && looks_like_a_mask(node, slot);
    if (added && reaches_softmax(node.output(0), 0)) meaning.meaning = Meaning::score_mask;
    if (meaning.meaning != Meaning::number) consider(std::move(meaning));
  }

  /// By its name, or since it is broadcast to what it is added to.
  bool looks_like_a_mask(const pb::NodeProto& node, int slot) const {
    if (node.input_size() != 2) return false;
    if (is_named_mask(input_)) return true;
    const std::vector<Extent> mine = extents_of(node.input(slot)), other = extents_of(node.input(1 - slot));
    if (mine.size() < 2 || mine.size() != other.size()) return false;
    for (std::size_t axis = 0; axis < mine.size(); ++axis)
      if (mine[axis].size == 1 && other[axis].size != 1) return true;
    return false;
  }

  bool reaches_softmax(const std::string& value, int depth) {
    static constexpr std::string_view kKept[] = {"Add", "Mul", "Div", "Reshape", "Cast", "Where", "Sub"};
    if (depth > 4) return false;
    for (const User& user : users_[value]) {
      if (user.node->op_type() == "Softmax") return true;
      if (std::ranges::find(kKept, user.node->op_type()) == std::end(kKept)) continue;
      if (reaches_softmax(user.node->output(0), depth + 1)) return true;
    }
    return false;
  }

  void follow_into(const pb::NodeProto& node, int slot, const Place& at, int depth) {
    for (const auto& attribute : node.attribute())
      if (attribute.has_g() && slot < attribute.g().input_size() && node.op_type() != "If")
        follow({attribute.g().input(slot).name()}, depth + 1);
    const bool adds = node.op_type() == "Add" || (node.op_type() == "Sub" && slot == 0);
    if (const auto* other = adds && !is_float_ ? constant(node, 1 - slot) : nullptr;
        other && other->size() == 1) {
      const auto step = static_cast<std::int64_t>(other->front());
      follow({node.output(0), at.offset + (node.op_type() == "Add" ? step : -step)}, depth + 1);
    }
    for (const InputMover& mover : input_movers()) {
      if (mover.op != node.op_type() || slot < mover.first || slot > mover.last) continue;
      for (const std::string& output : node.output()) follow(moved(node, slot, at, output), depth + 1);
    }
  }

  /// Where an operand lies in the result of a Concat, as far as the lengths are known.
  Place moved(const pb::NodeProto& node, int slot, const Place& at, const std::string& output) const {
    Place place{output, at.offset, at.place, at.total};
    if (node.op_type() != "Concat" || at.total > 0) return place;
    std::int64_t before = 0, total = 0;
    for (int i = 0; i < node.input_size(); ++i) {
      const std::vector<Extent> dims = extents_of(node.input(i));
      if (dims.size() != 1 || dims[0].size < 0) return place;
      if (i < slot) before += dims[0].size;
      total += dims[0].size;
    }
    place.place = before;
    place.total = total;
    return place;
  }

  const onnx::ImportedModel& model_;
  std::unordered_map<std::string, std::vector<double>> constants_;
  std::unordered_map<std::string, std::vector<User>> users_;
  std::set<std::string> seen_;
  std::optional<InputMeaning> best_;
  std::string input_;
  bool is_float_ = false;
};

}  // namespace

InputMeanings find_meanings(const onnx::ImportedModel& model) {
  const pb::GraphProto graph = read_skeleton(model.path(), kKeptBytes);
  Follower follower(model, graph);
  InputMeanings meanings;
  for (const auto& input : graph.input())
    if (auto meaning = follower.meaning_of(input)) meanings[input.name()] = std::move(*meaning);
  return meanings;
}

InputMeanings find_meanings(const std::filesystem::path& model) {
  return find_meanings(onnx::import_model(model));
}

}
