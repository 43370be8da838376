#include "core/nn/model/weights.h"

#include <algorithm>
#include <cmath>

#include "core/base/rng.h"
#include "core/env/observation.h"
#include "core/nn/model/byte_reader.h"
#include "core/nn/model/nn_error.h"

namespace regraft::nn {
namespace {

using internal::ByteReader;

constexpr std::uint32_t kWeightsMagic = 0x54574752;  // "RGWT"
constexpr std::uint32_t kWeightsFormat = 1;
constexpr std::uint32_t kMaxTensors = 4096;
constexpr std::uint32_t kMaxRank = 4;
constexpr std::uint8_t kFloat32 = 0;
constexpr double kPolicyOutputScale = 0.01;

class LayoutBuilder {
 public:
  void add(std::string name, std::vector<std::int64_t> shape) {
    append_tensor(tensors_, std::move(name), std::move(shape));
  }
  void add_norm(const std::string& prefix, std::int64_t width) {
    add(prefix + ".gain", {width});
    add(prefix + ".shift", {width});
  }
  void add_input(const std::string& prefix, std::int64_t features, std::int64_t width) {
    add(prefix + ".weight", {features, width});
    add(prefix + ".bias", {width});
    add_norm(prefix, width);
  }
  /// A perceptron with two hidden layers.
  void add_perceptron(const std::string& prefix, std::int64_t inputs, std::int64_t hidden,
                      std::int64_t outputs) {
    add(prefix + ".weight1", {inputs, hidden});
    add(prefix + ".bias1", {hidden});
    add(prefix + ".weight2", {hidden, hidden});
    add(prefix + ".bias2", {hidden});
    add(prefix + ".output", {hidden, outputs});
    add(prefix + ".output_bias", {outputs});
  }
  std::vector<TensorSpec> take() { return std::move(tensors_); }

 private:
  std::vector<TensorSpec> tensors_;
};

void add_step(LayoutBuilder& layout, const std::string& prefix, std::int64_t width) {
  // One product of the node embeddings serves as sender part, receiver part and the node's own part.
  layout.add(prefix + ".node_parts", {width, 3 * width});
  layout.add(prefix + ".edge.own", {width, width});
  layout.add(prefix + ".edge.global", {width, width});
  layout.add(prefix + ".edge.bias", {width});
  layout.add_norm(prefix + ".edge", width);
  layout.add(prefix + ".node.messages", {2 * width, width});
  layout.add(prefix + ".node.global", {width, width});
  layout.add(prefix + ".node.bias", {width});
  layout.add_norm(prefix + ".node", width);
  layout.add(prefix + ".global.parts", {3 * width, width});
  layout.add(prefix + ".global.bias", {width});
  layout.add_norm(prefix + ".global", width);
}

/// Inputs that meet in one pre-activation: the fan-in of every matrix that adds to it.
double fan_in(const TensorSpec& spec) {
  const double rows = static_cast<double>(spec.shape[0]);
  const auto has = [&](std::string_view part) { return spec.name.find(part) != std::string::npos; };
  if (has("node_parts") || has(".edge.own") || has(".edge.global") || has(".node.global")) return 4 * rows;
  if (has(".node.messages")) return 2 * rows;
  if (has("pointer.root") || has("pointer.matched") || has("pointer.rule") || has("pointer.graph") ||
      has("location.root") || has("location.matched") || has("location.graph"))
    return 4 * rows;
  return rows;
}

void add_pointer_head(LayoutBuilder& layout, std::int64_t width) {
  layout.add("rule.weight1", {env::kRuleFeatures, width});
  layout.add("rule.bias1", {width});
  layout.add("rule.weight2", {width, width});
  layout.add("rule.bias2", {width});
  for (const char* part : {"root", "matched", "rule", "graph"}) {
    layout.add(std::string("pointer.") + part, {width, width});
  }
  layout.add("pointer.bias1", {width});
  layout.add("pointer.weight2", {width, width});
  layout.add("pointer.bias2", {width});
  layout.add("pointer.output", {width, 1});
  layout.add("value.weight1", {width, width});
  layout.add("value.bias1", {width});
  layout.add("value.output", {width, 1});
  layout.add("value.output_bias", {1});
}

void add_hierarchical_head(LayoutBuilder& layout, const NetworkConfig& config) {
  const std::int64_t width = config.width, hidden = hidden_width(config), rules = config.rules;
  layout.add_perceptron("xfer", width, hidden, rules);
  for (const char* part : {"root", "matched", "graph"})
    layout.add(std::string("location.") + part, {width, hidden});
  layout.add("location.xfer",
             {config.action_mode == env::ActionMode::all_sites ? 2 * rules - 1 : rules, hidden});
  layout.add("location.bias1", {hidden});
  layout.add("location.weight2", {hidden, hidden});
  layout.add("location.bias2", {hidden});
  layout.add("location.output", {hidden, 1});
  layout.add_perceptron("value", width, hidden, 1);
  layout.add_perceptron("xfer_value", width, hidden, 1);
  layout.add("xfer_value.xfer", {rules, hidden});
}

}  // namespace

std::vector<TensorSpec> weight_layout(const NetworkConfig& config) {
  check(config);
  const std::int64_t width = config.width;
  LayoutBuilder layout;
  layout.add("node_input.kind", {config.node_kinds, width});
  layout.add_input("node_input", env::kNodeFeatures, width);
  layout.add_input("edge_input", env::kEdgeFeatures, width);
  layout.add_input("global_input", env::kGlobalFeatures, width);
  for (std::uint32_t step = 0; step < config.steps; ++step)
    add_step(layout, "step" + std::to_string(step), width);
  if (config.head == Head::pointer)
    add_pointer_head(layout, width);
  else
    add_hierarchical_head(layout, config);
  return layout.take();
}

std::size_t value_offset(const std::vector<TensorSpec>& layout) {
  const auto first = std::ranges::find_if(layout, [](const TensorSpec& spec) {
    return spec.name.starts_with("value.") || spec.name.starts_with("xfer_value.");
  });
  return first == layout.end() ? float_count(layout) : first->offset;
}

Weights initial_weights(const NetworkConfig& config, std::uint64_t seed) {
  Weights weights{weight_layout(config), {}};
  weights.values.assign(weights.tensors.back().offset + weights.tensors.back().count, 0.0f);
  for (const auto& spec : weights.tensors) {
    auto values = weights.tensor(spec.name);
    if (spec.shape.size() == 1) {
      if (spec.name.ends_with(".gain")) std::fill(values.begin(), values.end(), 1.0f);
      continue;
    }
    // A stream for each tensor: adding one leaves the others as they were.
    Rng rng(seed, "weights/" + spec.name);
    const bool table = spec.name == "node_input.kind" || spec.name.ends_with(".xfer");
    double bound = table ? 1.0 : std::sqrt(6.0 / fan_in(spec));
    if (spec.name == "pointer.output" || spec.name == "location.output" || spec.name == "xfer.output")
      bound *= kPolicyOutputScale;
    if (spec.name == "value.output" || spec.name == "xfer_value.output") bound *= 0.1;
    for (auto& value : values) value = static_cast<float>(rng.uniform(-bound, bound));
  }
  return weights;
}

void append_tensor(std::vector<TensorSpec>& layout, std::string name, std::vector<std::int64_t> shape) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  const std::size_t offset = float_count(layout);
  layout.push_back({std::move(name), std::move(shape), offset, count});
}

std::size_t float_count(const std::vector<TensorSpec>& layout) {
  return layout.empty() ? 0 : layout.back().offset + layout.back().count;
}

std::span<const float> Weights::tensor(std::string_view name) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.name == name; });
  if (found == tensors.end()) {
    throw NnError("no tensor '" + std::string(name) + "'", "weights", "they belong to another network");
  }
  return {values.data() + found->offset, found->count};
}

std::span<float> Weights::tensor(std::string_view name) {
  const auto part = static_cast<const Weights&>(*this).tensor(name);
  return {const_cast<float*>(part.data()), part.size()};
}

Hash128 Weights::hash() const {
  Hasher hasher;
  for (const auto& spec : tensors) {
    hasher.add(hash_text(spec.name));
    for (const auto extent : spec.shape) hasher.add(static_cast<std::uint64_t>(extent));
  }
  hasher.add(hash_bytes(std::as_bytes(std::span(values))));
  return hasher.finish();
}

void check(const Weights& weights, const NetworkConfig& config) {
  const auto expected = weight_layout(config);
  for (std::size_t i = 0; i < std::max(expected.size(), weights.tensors.size()); ++i) {
    if (i < expected.size() && i < weights.tensors.size() && expected[i] == weights.tensors[i]) continue;
    const auto& name = i < expected.size() ? expected[i].name : weights.tensors[i].name;
    throw NnError("tensor '" + name + "' is missing, foreign or of another shape", "weights",
                  "use weights of the same network config");
  }
  if (weights.values.size() != expected.back().offset + expected.back().count) {
    throw NnError("the values do not fill the layout", "weights", "use weights of the same network config");
  }
  const auto bad =
      std::find_if(weights.values.begin(), weights.values.end(), [](float v) { return !std::isfinite(v); });
  if (bad != weights.values.end()) {
    throw NnError("a weight is not finite", "weights",
                  "training has diverged: resume from an older checkpoint");
  }
}

std::vector<std::byte> encode_weights(const Weights& weights) {
  Bytes content;
  ByteWriter body(content);
  body.value(static_cast<std::uint32_t>(weights.tensors.size()));
  for (const auto& spec : weights.tensors) {
    body.value(static_cast<std::uint16_t>(spec.name.size()));
    body.text(spec.name);
    body.value(kFloat32);
    body.value(static_cast<std::uint8_t>(spec.shape.size()));
    for (const auto extent : spec.shape) body.value(extent);
  }
  body.raw(std::as_bytes(std::span(weights.values)));
  Bytes bytes;
  ByteWriter out(bytes);
  out.value(kWeightsMagic);
  out.value(kWeightsFormat);
  out.value(static_cast<std::uint64_t>(content.size()));
  out.value(hash_bytes(content));
  out.raw(content);
  return bytes;
}

namespace {

TensorSpec read_spec(ByteReader& reader, std::size_t offset) {
  TensorSpec spec;
  spec.name = reader.text(reader.value<std::uint16_t>());
  if (reader.value<std::uint8_t>() != kFloat32) {
    throw NnError("tensor '" + spec.name + "' is not float32", reader.where(),
                  "convert the weights to float32");
  }
  const auto rank = reader.value<std::uint8_t>();
  if (rank > kMaxRank) throw NnError("tensor rank is too large", reader.where(), "the data is damaged");
  spec.offset = offset;
  spec.count = 1;
  for (int axis = 0; axis < rank; ++axis) {
    const auto extent = reader.value<std::int64_t>();
    // No tensor can have more values than there are bytes left.
    if (extent < 1 || static_cast<std::uint64_t>(extent) > reader.left() ||
        spec.count > reader.left() / static_cast<std::size_t>(extent)) {
      throw NnError("tensor '" + spec.name + "' has an impossible shape", reader.where(),
                    "the data is damaged");
    }
    spec.count *= static_cast<std::size_t>(extent);
    spec.shape.push_back(extent);
  }
  return spec;
}

}  // namespace

Weights decode_weights(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, "weights");
  if (reader.value<std::uint32_t>() != kWeightsMagic)
    throw NnError("not a weight buffer", reader.where(), "");
  if (const auto format = reader.value<std::uint32_t>(); format != kWeightsFormat) {
    throw NnError("weight format " + std::to_string(format) + " is unknown", reader.where(),
                  "this program reads format " + std::to_string(kWeightsFormat));
  }
  const auto size = reader.value<std::uint64_t>();
  const auto expected = reader.value<Hash128>();
  if (size > reader.left()) throw NnError("ends too early", reader.where(), "the data is truncated");
  if (size < reader.left()) throw NnError("has bytes after its end", reader.where(), "the data is damaged");
  ByteReader body(bytes.last(size), "weights");
  if (hash_bytes(bytes.last(size)) != expected) {
    throw NnError("the content hash does not match", body.where(), "the data is damaged: write it again");
  }
  const auto count = body.value<std::uint32_t>();
  if (count > kMaxTensors) throw NnError("too many tensors", body.where(), "the data is damaged");
  Weights weights;
  std::size_t offset = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    weights.tensors.push_back(read_spec(body, offset));
    offset += weights.tensors.back().count;
  }
  if (body.left() / sizeof(float) != offset || body.left() % sizeof(float) != 0) {
    throw NnError("the values do not fill the layout", body.where(), "the data is damaged");
  }
  weights.values.resize(offset);
  const auto raw = body.raw(offset * sizeof(float));
  std::memcpy(weights.values.data(), raw.data(), raw.size());
  return weights;
}

}
