#include "core/exec/kernels/kernel_grid.h"

#include <onnx/onnx_pb.h>

#include <cctype>
#include <charconv>
#include <map>
#include <sstream>

#include "core/base/atomic_file.h"
#include "core/base/error.h"
#include "core/base/rng.h"

namespace regraft::exec {
namespace {

using Sizes = std::map<std::string, std::int64_t>;
using Choices = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

/// Reads one line; `where` names it.
class GridLine {
 public:
  GridLine(const std::string& line, std::string where) : where_(std::move(where)) {
    const std::size_t bar = line.find('|');
    std::istringstream words(line.substr(0, bar)),
        sizes(bar == std::string::npos ? "" : line.substr(bar + 1));
    words >> op_;
    for (std::string word; words >> word;) words_.push_back(word);
    for (std::string word; sizes >> word;) {
      const auto [name, values] = assignment(word);
      choices_.emplace_back(name, numbers(values, {}));
    }
    if (words_.empty()) refuse("there are no operands");
  }

  /// The kernels of all combinations, the last size varying fastest.
  void add_to(std::vector<GridKernel>& kernels, Sizes chosen = {}, std::size_t at = 0) const {
    if (at == choices_.size()) return kernels.push_back(kernel(chosen));
    for (const std::int64_t size : choices_[at].second) {
      chosen[choices_[at].first] = size;
      add_to(kernels, chosen, at + 1);
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw UsageError(problem, where_, "as in: MatMul x[1,M,K] W[K,N] | M=1,8,64 K=64,256 N=64");
  }

  std::pair<std::string, std::string> assignment(const std::string& word) const {
    const std::size_t at = word.find('=');
    if (at == std::string::npos || at == 0) refuse("'" + word + "' is no NAME=NUMBERS");
    return {word.substr(0, at), word.substr(at + 1)};
  }

  std::vector<std::int64_t> numbers(const std::string& text, const Sizes& chosen) const {
    std::vector<std::int64_t> numbers;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
      std::int64_t number = 0;
      if (const auto found = chosen.find(part); found != chosen.end()) {
        number = found->second;
      } else if (const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
                 error != std::errc() || end != part.data() + part.size()) {
        refuse("'" + part + "' is neither a number nor a size");
      }
      numbers.push_back(number);
    }
    if (numbers.empty()) refuse("'" + text + "' has no numbers");
    return numbers;
  }

  GridKernel kernel(const Sizes& chosen) const {
    GridKernel kernel{op_, {}, {}};
    for (const std::string& word : words_) {
      const std::size_t open = word.find('[');
      if (open == std::string::npos) {
        const auto [name, values] = assignment(word);
        kernel.attributes.emplace_back(name, numbers(values, chosen));
        continue;
      }
      if (!word.ends_with(']') || open == 0) refuse("'" + word + "' is no operand");
      const std::string dims = word.substr(open + 1, word.size() - open - 2);
      kernel.inputs.push_back({dims.empty() ? std::vector<std::int64_t>() : numbers(dims, chosen),
                               std::isupper(static_cast<unsigned char>(word[0])) != 0});
      for (const std::int64_t dim : kernel.inputs.back().dims)
        if (dim < 1) refuse("a dim is below 1");
    }
    return kernel;
  }

  std::string where_, op_;
  std::vector<std::string> words_;
  Choices choices_;
};

void add_type(::onnx::ValueInfoProto& value, const std::string& name) {
  value.set_name(name);
  value.mutable_type()->mutable_tensor_type()->set_elem_type(::onnx::TensorProto::FLOAT);
}

void add_constant(::onnx::GraphProto& graph, const std::string& name, const GridKernel::Operand& operand,
                  Rng& rng) {
  ::onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(::onnx::TensorProto::FLOAT);
  std::vector<float> values(static_cast<std::size_t>(operand.elements()));
  for (float& value : values) value = static_cast<float>(rng.uniform() * 0.2 + 0.01);
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
  for (const std::int64_t dim : operand.dims) tensor.add_dims(dim);
}

void add_attribute(::onnx::NodeProto& node, const std::string& name,
                   const std::vector<std::int64_t>& values) {
  ::onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  const bool one = values.size() == 1 && name != "axes" && name != "kernel_shape" && name != "perm";
  attribute.set_type(one ? ::onnx::AttributeProto::INT : ::onnx::AttributeProto::INTS);
  if (one) attribute.set_i(values[0]);
  if (!one)
    for (const std::int64_t value : values) attribute.add_ints(value);
}

}  // namespace

std::int64_t GridKernel::Operand::elements() const {
  std::int64_t elements = 1;
  for (const std::int64_t dim : dims) elements *= dim;
  return elements;
}

std::string GridKernel::text() const {
  std::string text = op;
  for (const Operand& operand : inputs) {
    text += operand.constant ? " const[" : " [";
    for (std::size_t i = 0; i < operand.dims.size(); ++i)
      text += (i ? "," : "") + std::to_string(operand.dims[i]);
    text += "]";
  }
  return text;
}

std::vector<GridKernel> parse_kernel_grid(std::string_view text, const std::string& source) {
  std::vector<GridKernel> kernels;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line.resize(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    GridLine(line, source + ":" + std::to_string(number)).add_to(kernels);
  }
  return kernels;
}

std::size_t write_kernels(const std::vector<GridKernel>& kernels, std::size_t first, double most_bytes,
                          const std::filesystem::path& file) {
  ::onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  ::onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("kernels");
  Rng rng(first, "kernel grid");
  double bytes = 0;
  std::size_t at = first;
  for (; at < kernels.size(); ++at) {
    double own = 0;
    for (const GridKernel::Operand& operand : kernels[at].inputs)
      own += static_cast<double>(operand.elements()) * sizeof(float);
    if (at > first && bytes + own > most_bytes) break;
    bytes += own;
    const std::string name = "k" + std::to_string(at);
    ::onnx::NodeProto& node = *graph.add_node();
    node.set_name(name);
    node.set_op_type(kernels[at].op);
    for (const auto& [attribute, values] : kernels[at].attributes) add_attribute(node, attribute, values);
    for (std::size_t i = 0; i < kernels[at].inputs.size(); ++i) {
      const GridKernel::Operand& operand = kernels[at].inputs[i];
      const std::string input = name + "_in" + std::to_string(i);
      node.add_input(input);
      if (operand.constant) {
        add_constant(graph, input, operand, rng);
        continue;
      }
      ::onnx::ValueInfoProto& value = *graph.add_input();
      add_type(value, input);
      auto& shape = *value.mutable_type()->mutable_tensor_type()->mutable_shape();
      for (const std::int64_t dim : operand.dims) shape.add_dim()->set_dim_value(dim);
    }
    node.add_output(name + "_out");
    add_type(*graph.add_output(), name + "_out");
  }
  write_file_atomic(file, model.SerializeAsString());
  return at;
}

}
