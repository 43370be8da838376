#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace regraft::corpus {

using Ints = std::vector<std::int64_t>;

enum class Element : std::uint8_t { float32, int32, int64 };

/// The name of a value with its dims. Without a name: an input that is left out.
struct Tensor {
  std::string name{};
  Ints dims{};
  Element element = Element::float32;

  std::int64_t rank() const { return static_cast<std::int64_t>(dims.size()); }
  /// The size of an axis; negative axes count from the end.
  std::int64_t dim(std::int64_t axis) const {
    return dims[static_cast<std::size_t>(axis < 0 ? axis + rank() : axis)];
  }
};

std::int64_t element_count(const Ints& dims);

/// An attribute of a node.
struct Attr {
  std::string name;
  std::variant<std::int64_t, float, std::string, Ints> value;
};

/// A constant: `floats` or `ints` when there are any, else drawn uniformly around `mean`.
struct Weight {
  Tensor tensor;
  std::vector<float> floats{};
  Ints ints{};
  double mean = 0;
  double deviation = 0;  // standard deviation
};

struct Node {
  std::string op;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<Attr> attrs{};
  std::optional<Weight> value{};  // of a Constant
};

/// An ONNX model as plain data, its drawn weights not yet drawn.
struct Model {
  std::string producer;
  std::string producer_version;
  std::int64_t opset = 0;
  std::vector<Node> nodes{};
  std::vector<Weight> weights{};
  std::vector<Tensor> inputs{};
  std::vector<Tensor> outputs{};

  std::size_t weight_bytes() const;
};

}
