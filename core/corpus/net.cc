#include "core/corpus/net.h"

#include <algorithm>
#include <bit>

namespace regraft::corpus {
namespace {

// Rates of one core, about. They only keep models within what is run in practice (corpus.cc).
constexpr double kNodeUs = 1.0;
constexpr double kBytesPerUs = 4000;
constexpr double kMultiplyAddsPerUs = 40000;
constexpr double kWeightsPerUs = 4000;  // that are read for one row

bool moves_nothing(const std::string& op) {
  return op == "Reshape" || op == "Flatten" || op == "Squeeze" || op == "Unsqueeze" || op == "Shape";
}

}  // namespace

Net::Net(const Dialect& dialect) : dialect_(dialect) {
  model_.producer = dialect.producer();
  model_.producer_version = dialect.producer_version();
  model_.opset = dialect.opset;
}

std::string Net::fresh(const std::string& stem) {
  const std::string number = std::to_string(names_++);
  if (dialect_.is(Exporter::torch_dynamo)) return "val_" + number;
  if (dialect_.is(Exporter::tensorflow)) return "model/" + stem + "_" + number + ":0";
  if (dialect_.is(Exporter::paddle)) return "p2o." + stem + "." + number;
  return "/" + stem + "_" + number + "_output_0";
}

Tensor Net::input(const std::string& name, Ints dims, Element element) {
  model_.inputs.push_back({name, std::move(dims), element});
  return model_.inputs.back();
}

void Net::output(const Tensor& value) {
  model_.outputs.push_back(value);
}

std::vector<Tensor> Net::nodes(const std::string& op, const std::vector<Tensor>& inputs,
                               const std::vector<Ints>& dims, std::vector<Attr> attrs) {
  Node node{.op = op, .inputs = {}, .outputs = {}, .attrs = std::move(attrs)};
  for (const Tensor& input : inputs) node.inputs.push_back(input.name);
  std::vector<Tensor> outputs;
  for (const Ints& each : dims) {
    outputs.push_back({fresh(op), each, inputs.empty() ? Element::float32 : inputs.front().element});
    node.outputs.push_back(outputs.back().name);
    if (!moves_nothing(op)) estimate_us_ += static_cast<double>(element_count(each)) * 4 / kBytesPerUs;
  }
  estimate_us_ += kNodeUs;
  model_.nodes.push_back(std::move(node));
  return outputs;
}

Tensor Net::node(const std::string& op, const std::vector<Tensor>& inputs, Ints dims,
                 std::vector<Attr> attrs) {
  return nodes(op, inputs, {std::move(dims)}, std::move(attrs)).front();
}

Tensor Net::kept(Weight weight, const std::string& stem) {
  weight.tensor.name = fresh(stem);
  model_.weights.push_back(std::move(weight));
  return model_.weights.back().tensor;
}

Tensor Net::weight(Ints dims, double deviation, double mean) {
  Weight weight{.tensor = {.dims = std::move(dims)}};
  weight.mean = mean;
  weight.deviation = deviation;
  return kept(std::move(weight), "weight");
}

Tensor Net::table(Ints dims, std::vector<float> values) {
  return kept({.tensor = {.dims = std::move(dims)}, .floats = std::move(values)}, "table");
}

Tensor Net::table(Ints dims, Ints values) {
  return kept({.tensor = {.dims = std::move(dims), .element = Element::int64}, .ints = std::move(values)},
              "table");
}

Tensor Net::constant(Weight weight, const std::string& key) {
  if (!dialect_.constants_are_nodes()) {
    const auto [held, is_new] = constants_.try_emplace(key);
    if (is_new) held->second = kept(std::move(weight), "const");
    return held->second;
  }
  weight.tensor.name = fresh("Constant");
  const Tensor tensor = weight.tensor;
  model_.nodes.push_back(
      {.op = "Constant", .inputs = {}, .outputs = {tensor.name}, .attrs = {}, .value = weight});
  return tensor;
}

Tensor Net::scalar(double value) {
  return constant({.tensor = {}, .floats = {static_cast<float>(value)}},
                  "f" + std::to_string(std::bit_cast<std::uint32_t>(static_cast<float>(value))));
}

Tensor Net::index(std::int64_t value) {
  return constant({.tensor = {.element = Element::int64}, .floats = {}, .ints = {value}},
                  "i" + std::to_string(value));
}

Tensor Net::list(const Ints& values) {
  std::string key = "l";
  for (const std::int64_t value : values) key += std::to_string(value) + ",";
  const auto length = static_cast<std::int64_t>(values.size());
  return constant({.tensor = {.dims = {length}, .element = Element::int64}, .floats = {}, .ints = values},
                  key);
}

void Net::count(std::int64_t multiply_adds, std::int64_t rows) {
  estimate_us_ += static_cast<double>(multiply_adds) /
                  std::min(kMultiplyAddsPerUs, kWeightsPerUs * static_cast<double>(rows));
}

}
