#include "core/corpus/model_bytes.h"

#include <onnx/onnx_pb.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/rng.h"
#include "core/onnx/protobuf_wire.h"

namespace regraft::corpus {
namespace {

namespace pb = ::onnx;

constexpr std::size_t kPeriod = 65537;
constexpr std::uint32_t kModelGraphField = 7, kGraphInitializerField = 5;
constexpr std::int64_t kIrVersion = 8, kIrVersionOfOpset20 = 10;

int element_type(Element element) {
  switch (element) {
    case Element::int32:
      return pb::TensorProto::INT32;
    case Element::int64:
      return pb::TensorProto::INT64;
    default:
      return pb::TensorProto::FLOAT;
  }
}

template <typename T>
std::string raw(const auto& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    std::copy_n(reinterpret_cast<const char*>(&value), sizeof value, bytes.data() + i * sizeof value);
  }
  return bytes;
}

/// Numbers of mean 0 and variance 1, from which all weights are cut.
class WeightBlock {
 public:
  explicit WeightBlock(std::uint64_t seed) : rng_(seed, "corpus weights"), numbers_(kPeriod) {
    for (float& number : numbers_) number = static_cast<float>(rng_.uniform(-std::sqrt(3.0), std::sqrt(3.0)));
  }

  void append(std::string& out, std::size_t count, float mean, float deviation) {
    std::array<float, 2048> scaled;
    for (std::size_t at = rng_.below(kPeriod); count > 0;) {
      const std::size_t taken = std::min({count, scaled.size(), kPeriod - at});
      for (std::size_t i = 0; i < taken; ++i) scaled[i] = mean + deviation * numbers_[at + i];
      out.append(reinterpret_cast<const char*>(scaled.data()), taken * sizeof(float));
      at = (at + taken) % kPeriod;
      count -= taken;
    }
  }

 private:
  Rng rng_;
  std::vector<float> numbers_;
};

/// All of a tensor but its contents; those too when they are given.
pb::TensorProto tensor_proto(const Weight& weight) {
  pb::TensorProto proto;
  proto.set_name(weight.tensor.name);
  proto.set_data_type(element_type(weight.tensor.element));
  for (const std::int64_t dim : weight.tensor.dims) proto.add_dims(dim);
  if (weight.tensor.element == Element::int64)
    proto.set_raw_data(raw<std::int64_t>(weight.ints));
  else if (weight.tensor.element == Element::int32)
    proto.set_raw_data(raw<std::int32_t>(weight.ints));
  else if (!weight.floats.empty())
    proto.set_raw_data(raw<float>(weight.floats));
  return proto;
}

struct AttributeWriter {
  pb::AttributeProto& proto;
  void operator()(std::int64_t value) const {
    proto.set_type(pb::AttributeProto::INT);
    proto.set_i(value);
  }
  void operator()(float value) const {
    proto.set_type(pb::AttributeProto::FLOAT);
    proto.set_f(value);
  }
  void operator()(const std::string& value) const {
    proto.set_type(pb::AttributeProto::STRING);
    proto.set_s(value);
  }
  void operator()(const Ints& values) const {
    proto.set_type(pb::AttributeProto::INTS);
    for (const std::int64_t value : values) proto.add_ints(value);
  }
};

void write_node(const Node& node, int number, pb::NodeProto& proto) {
  proto.set_op_type(node.op);
  proto.set_name(node.op + "_" + std::to_string(number));
  for (const std::string& name : node.inputs) proto.add_input(name);
  for (const std::string& name : node.outputs) proto.add_output(name);
  for (const Attr& attr : node.attrs) {
    pb::AttributeProto& out = *proto.add_attribute();
    out.set_name(attr.name);
    std::visit(AttributeWriter{out}, attr.value);
  }
  if (!node.value) return;
  pb::AttributeProto& out = *proto.add_attribute();
  out.set_name("value");
  out.set_type(pb::AttributeProto::TENSOR);
  *out.mutable_t() = tensor_proto(*node.value);
}

void write_value(const Tensor& value, pb::ValueInfoProto& proto) {
  proto.set_name(value.name);
  auto& type = *proto.mutable_type()->mutable_tensor_type();
  type.set_elem_type(element_type(value.element));
  for (const std::int64_t dim : value.dims) type.mutable_shape()->add_dim()->set_dim_value(dim);
}

/// A weight's message, without the contents that are drawn.
struct Initializer {
  std::string start;
  std::size_t drawn = 0;  // elements
  std::size_t drawn_bytes() const { return drawn * sizeof(float); }
  std::size_t size_bytes() const {
    return start.size() + (drawn == 0 ? 0 : 1 + onnx::varint_size(drawn_bytes()) + drawn_bytes());
  }
};

Initializer initializer(const Weight& weight) {
  Initializer out{tensor_proto(weight).SerializeAsString()};
  if (weight.floats.empty() && weight.tensor.element == Element::float32)
    out.drawn = static_cast<std::size_t>(element_count(weight.tensor.dims));
  return out;
}

/// Most of the time to write a model would go to the faults of its pages: with large ones, it takes a third.
void ask_for_large_pages(std::string& reserved) {
  constexpr std::size_t kPage = 4096;
  const std::size_t before = (kPage - reinterpret_cast<std::uintptr_t>(reserved.data()) % kPage) % kPage;
  if (reserved.capacity() < before + kPage) return;
  const std::size_t bytes = (reserved.capacity() - before) / kPage * kPage;
  ::madvise(reserved.data() + before, bytes, MADV_HUGEPAGE);  // where it can
}

}  // namespace

/// Fields of a message may follow each other in pieces, so the drawn weights never lie in a message.
std::string model_bytes(const Model& model, std::uint64_t seed) {
  pb::GraphProto nodes, interface;
  for (const Node& node : model.nodes) write_node(node, nodes.node_size(), *nodes.add_node());
  nodes.set_name("main_graph");
  for (const Tensor& input : model.inputs) write_value(input, *interface.add_input());
  for (const Tensor& output : model.outputs) write_value(output, *interface.add_output());
  const std::string first = nodes.SerializeAsString(), last = interface.SerializeAsString();

  std::vector<Initializer> initializers;
  std::size_t graph_bytes = first.size() + last.size();
  for (const Weight& weight : model.weights) {
    initializers.push_back(initializer(weight));
    const std::size_t size = initializers.back().size_bytes();
    graph_bytes += 1 + onnx::varint_size(size) + size;
  }

  pb::ModelProto head, tail;
  head.set_ir_version(model.opset < 20 ? kIrVersion : kIrVersionOfOpset20);
  head.set_producer_name(model.producer);
  head.set_producer_version(model.producer_version);
  tail.add_opset_import()->set_version(model.opset);
  tail.mutable_opset_import(0)->set_domain("");

  std::string out;
  out.reserve(graph_bytes + 1000);
  ask_for_large_pages(out);
  out += head.SerializePartialAsString();
  const auto begin = [&](std::uint32_t field, std::size_t size) {
    onnx::append_varint(out, onnx::bytes_tag(field));
    onnx::append_varint(out, size);
  };
  begin(kModelGraphField, graph_bytes);
  out += first;
  WeightBlock block(seed);
  for (std::size_t i = 0; i < initializers.size(); ++i) {
    begin(kGraphInitializerField, initializers[i].size_bytes());
    out += initializers[i].start;
    if (initializers[i].drawn == 0) continue;
    begin(onnx::kRawDataField, initializers[i].drawn_bytes());
    block.append(out, initializers[i].drawn, static_cast<float>(model.weights[i].mean),
                 static_cast<float>(model.weights[i].deviation));
  }
  out += last;
  return out += tail.SerializePartialAsString();
}

}
