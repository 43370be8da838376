#include "core/exec/inputs/user_inputs.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/exec/inputs/npz.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/runtime/narrow_types.h"

namespace regraft::exec {
namespace {

namespace fs = std::filesystem;

template <typename T, typename Field>
void store(Tensor& tensor, const Field& field) {
  for (const auto item : field) {
    const T value = static_cast<T>(item);
    const auto bytes = std::as_bytes(std::span(&value, 1));
    tensor.bytes.insert(tensor.bytes.end(), bytes.begin(), bytes.end());
  }
}

/// Elements that are not stored as raw_data (onnx.proto, TensorProto).
void store_typed(Tensor& tensor, const ::onnx::TensorProto& proto) {
  switch (tensor.dtype) {
    case DType::float32:
      return store<float>(tensor, proto.float_data());
    case DType::float64:
      return store<double>(tensor, proto.double_data());
    case DType::int64:
      return store<std::int64_t>(tensor, proto.int64_data());
    case DType::uint64:
      return store<std::uint64_t>(tensor, proto.uint64_data());
    case DType::uint32:
      return store<std::uint32_t>(tensor, proto.uint64_data());
    case DType::int32:
      return store<std::int32_t>(tensor, proto.int32_data());
    case DType::int16:
    case DType::uint16:
    case DType::float16:
    case DType::bfloat16:
      return store<std::uint16_t>(tensor, proto.int32_data());
    case DType::int8:
    case DType::uint8:
    case DType::boolean:
      return store<std::uint8_t>(tensor, proto.int32_data());
    default:  // those of 4 and 8 bits: a byte, of two elements where two fit
      if (narrow_type(tensor.dtype) != nullptr) store<std::uint8_t>(tensor, proto.int32_data());
  }
}

/// By the last number in the name: input_2.pb before input_10.pb.
bool comes_first(const fs::path& a, const fs::path& b) {
  const std::string left = a.filename().string(), right = b.filename().string();
  return left.size() != right.size() ? left.size() < right.size() : left < right;
}

std::vector<fs::path> files_of(std::span<const fs::path> paths) {
  std::vector<fs::path> files;
  for (const fs::path& path : paths) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::vector<fs::path> inside;
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
      const std::string name = entry.path().filename().string();
      if (entry.path().extension() == ".pb" && !name.starts_with("output")) inside.push_back(entry.path());
    }
    std::sort(inside.begin(), inside.end(), comes_first);
    if (inside.empty()) throw ExecError("holds no .pb files", path, "give the folder with input_0.pb");
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

/// A TensorProto file (.pb), and the name that it gives (often empty).
std::pair<std::string, Tensor> read_tensor_file(const fs::path& path) {
  ::onnx::TensorProto proto;
  if (!proto.ParseFromString(read_file(path)))
    throw ExecError("is no TensorProto", path, "write it with onnx.numpy_helper.from_array");
  Tensor tensor{static_cast<DType>(proto.data_type()), {proto.dims().begin(), proto.dims().end()}, {}, {}};
  if (tensor.dtype == DType::string) {
    tensor.strings.assign(proto.string_data().begin(), proto.string_data().end());
  } else if (proto.has_raw_data()) {
    const auto raw = std::as_bytes(std::span(proto.raw_data()));
    tensor.bytes.assign(raw.begin(), raw.end());
  } else {
    store_typed(tensor, proto);
  }
  const bool text = tensor.dtype == DType::string;
  const std::size_t held = text ? tensor.strings.size() : tensor.bytes.size(),
                    wanted =
                        text ? tensor.element_count() : stored_bytes(tensor.dtype, tensor.element_count());
  if (held != wanted)
    throw ExecError("holds " + std::to_string(held) + (text ? " strings" : " bytes") +
                        " where its dims say " + std::to_string(wanted),
                    path, "write it again");
  return {proto.name(), std::move(tensor)};
}

}  // namespace

UserInputs UserInputs::load(std::span<const fs::path> paths, std::unique_ptr<InputSource> others) {
  UserInputs inputs;
  inputs.others_ = std::move(others);
  for (const fs::path& file : files_of(paths)) {
    if (file.extension() == ".npz") {
      for (auto& [name, tensor] : read_npz(file)) {
        inputs.array_names_.push_back(name);
        inputs.named_.emplace(name, std::move(tensor));
      }
    } else if (file.extension() == ".pb") {
      auto [name, tensor] = read_tensor_file(file);
      if (!name.empty()) inputs.named_[name] = tensor;
      inputs.ordered_.push_back(std::move(tensor));
    } else {
      throw ExecError("is neither .npz nor .pb", file,
                      "write the inputs with numpy.savez, or as TensorProtos");
    }
  }
  return inputs;
}

/// A misspelt name would be drawn at random without a word.
void UserInputs::check_names(std::span<const ValueInfo> inputs) const {
  std::vector<std::string> known;
  for (const ValueInfo& input : inputs) known.push_back(input.name);
  for (const std::string& name : array_names_)
    if (std::ranges::find(known, name) == known.end())
      throw ExecError("the model has no input '" + name + "'", "--inputs", suggestion(name, known));
}

/// Null where it is left to others.
const Tensor* UserInputs::tensor_for(const ValueInfo& info, std::size_t position) const {
  const auto named = named_.find(info.name);
  if (named == named_.end() && position >= ordered_.size()) {
    if (others_) return nullptr;
    throw ExecError("no tensor is given for input " + info.describe(), "--inputs",
                    "add an array of that name");
  }
  const Tensor& tensor = named == named_.end() ? ordered_[position] : named->second;
  bool fits = tensor.container == info.container && tensor.dtype == info.dtype &&
              tensor.dims.size() == info.dims.size();
  for (std::size_t axis = 0; fits && axis < info.dims.size(); ++axis)
    fits = !info.dims[axis].is_static() || info.dims[axis].size == tensor.dims[axis];
  if (!fits)
    throw ExecError(
        "the tensor given for input " + info.describe() + " has another type or shape: " + describe(tensor),
        "--inputs", "give one that fits");
  return &tensor;
}

std::vector<Tensor> UserInputs::draw(std::span<const ValueInfo> inputs, const SymbolSizes& sizes,
                                     Rng& rng) const {
  check_names(inputs);
  std::vector<Tensor> tensors;
  if (others_) tensors = others_->draw(inputs, sizes, rng);
  tensors.resize(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const Tensor* given = tensor_for(inputs[i], i)) tensors[i] = *given;
  return tensors;
}

SymbolSizes UserInputs::sizes(std::span<const ValueInfo> inputs) const {
  check_names(inputs);
  SymbolSizes sizes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* tensor = tensor_for(inputs[i], i);
    for (std::size_t axis = 0; tensor && axis < inputs[i].dims.size(); ++axis) {
      const AxisInfo& info = inputs[i].dims[axis];
      if (info.is_static()) continue;
      const auto [known, fresh] = sizes.emplace(info.symbol, tensor->dims[axis]);
      if (!fresh && known->second != tensor->dims[axis])
        throw ExecError("the tensors given disagree about " + info.symbol, "--inputs", "");
    }
  }
  return sizes;
}

}
