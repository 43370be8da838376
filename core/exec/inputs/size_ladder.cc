#include "core/exec/inputs/size_ladder.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exec/inputs/small_sizes.h"
#include "core/exec/runtime/model_skeleton.h"

namespace regraft::exec {
namespace {

namespace pb = ::onnx;
using Dims = std::vector<std::int64_t>;

constexpr std::int64_t kLargestConstant = 65536;  // of the model that is tried as a size
constexpr std::size_t kMostConstants = 24;

/// What people use, by kind, and what is tried first where that does not run.
struct UsualSizes {
  DimKind kind;
  std::string_view what;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> cheap = {};
};

const std::vector<UsualSizes>& usual_sizes() {
  static const std::vector<UsualSizes> kUsual{
      {DimKind::batch, "usual batch", {1, 2, 4, 8, 16, 32, 64}},
      {DimKind::length,
       "usual length",
       {128, 64, 32, 16, 256, 512, 77, 10, 8, 4, 2, 1, 1024},
       {16, 8, 32, 4, 10, 2, 1, 64}},
      {DimKind::image,
       "usual image size",
       {224, 192, 160, 128, 112, 96, 64, 48, 32, 28, 16, 256, 299, 320, 384, 416, 448, 512, 640, 768, 8, 4},
       {32, 64, 48, 28, 16, 96, 112, 128, 8, 4}},
      {DimKind::samples,
       "usual number of samples",
       {16000, 512, 256, 1024, 1536, 576, 480, 400, 320, 160, 2048, 4096, 8000, 32000, 48000, 128, 64, 16},
       {512, 256, 1024, 160, 320, 400, 480, 576, 1536, 128, 64, 16}},
      {DimKind::channels, "usual number of channels", {3, 1, 4, 2, 8, 16, 32, 64, 128, 80, 256, 512, 768}},
      {DimKind::fixed, "usual size", {1, 2, 4, 8, 16, 32, 64, 128, 256, 512}},
  };
  return kUsual;
}

/// Parts of names that say what a dim counts.
struct Word {
  std::string_view text;
  DimKind kind;
  bool whole = false;  // the name is this word
};
constexpr Word kWords[] = {
    {"batch", DimKind::batch},      {"height", DimKind::image},   {"width", DimKind::image},
    {"h", DimKind::image, true},    {"w", DimKind::image, true},  {"sample", DimKind::samples},
    {"seq", DimKind::length},       {"length", DimKind::length},  {"time", DimKind::length},
    {"token", DimKind::length},     {"frame", DimKind::length},   {"past", DimKind::length},
    {"node", DimKind::length},      {"edge", DimKind::length},    {"atom", DimKind::length},
    {"graphs", DimKind::batch},     {"t", DimKind::length, true}, {"channel", DimKind::channels},
    {"c", DimKind::channels, true}, {"b", DimKind::batch, true},  {"bs", DimKind::batch, true},
};

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_named(const ValueInfo& input, std::size_t axis) {
  return input.dims[axis].symbol != input.name + "." + std::to_string(axis);
}

/// What a recurrent layer carries: layers, batch, features.
bool is_state(const std::string& name) {
  constexpr std::string_view kStates[] = {"state", "hidden", "cell", "h0", "c0", "h_0", "c_0"};
  const std::string lower = lower_case(name);
  return std::ranges::any_of(kStates, [&](std::string_view word) { return lower.find(word) != lower.npos; });
}

/// By the place among the axes of the input, whose elements are `real` numbers or integers.
DimKind kind_by_place(const ValueInfo& input, std::size_t axis, bool real) {
  const std::size_t rank = input.dims.size();
  const auto size = [&](std::size_t at) { return input.dims[at].size; };
  const auto is_narrow = [&](std::size_t at) { return size(at) >= 1 && size(at) <= 4; };
  constexpr std::int64_t kLongestSide = 4096;
  const bool picture = rank == 3 && real && (size(2) == 3 || size(2) == 4) &&  // height, width, colours
                       size(0) <= kLongestSide && size(1) <= kLongestSide;
  if (rank == 1) return real ? DimKind::samples : DimKind::length;
  if (picture) return DimKind::image;
  if (axis == 0) return DimKind::batch;
  if (!real) return DimKind::length;
  if (rank == 2) return DimKind::samples;
  if (rank == 3) {
    if (axis == 1 && is_state(input.name)) return DimKind::batch;
    return axis == 2 && is_narrow(1) ? DimKind::samples : DimKind::length;
  }
  if (rank == 4 && size(3) > 4 && !is_narrow(1)) return DimKind::length;  // heads and what they keep
  const bool channels_last = is_narrow(rank - 1);
  return axis == (channels_last ? rank - 1 : 1) ? DimKind::channels : DimKind::image;
}

DimKind kind_of(const ValueInfo& input, std::size_t axis, const InputMeanings& meanings) {
  if (is_named(input, axis)) {
    const std::string name = lower_case(input.dims[axis].symbol);
    for (const Word& word : kWords)
      if (word.whole ? name == word.text : name.find(word.text) != std::string::npos) return word.kind;
  }
  const auto meaning = meanings.find(input.name);
  const bool index = meaning != meanings.end() && meaning->second.meaning == Meaning::index;
  const bool real = graph::is_float(input.dtype) || input.dtype == DType::uint8;
  return kind_by_place(input, axis, real && !index);
}

/// Finds axes of inputs that the weights of their readers fix.
class WeightReader {
 public:
  explicit WeightReader(const std::filesystem::path& model) : graph_(read_skeleton(model)) {
    for (const auto& tensor : graph_.initializer())
      weights_[tensor.name()] = Dims(tensor.dims().begin(), tensor.dims().end());
  }

  /// The size of an axis of an input of this rank that a direct reader asks for; 0 where none does.
  std::int64_t asked(const std::string& input, std::size_t axis, std::size_t rank) const {
    for (const auto& node : graph_.node()) {
      if (node.input_size() < 2 || node.input(0) != input) continue;
      const auto weight = weights_.find(node.input(1));
      if (weight == weights_.end()) continue;
      const std::int64_t size = asked_by(node, weight->second, axis, rank);
      if (size > 0) return size;
    }
    return 0;
  }

 private:
  static std::int64_t attribute(const pb::NodeProto& node, std::string_view name, std::int64_t otherwise) {
    for (const auto& one : node.attribute())
      if (one.name() == name) return one.i();
    return otherwise;
  }

  static std::int64_t asked_by(const pb::NodeProto& node, const Dims& weight, std::size_t axis,
                               std::size_t rank) {
    const bool last = axis + 1 == rank;
    const std::string& op = node.op_type();
    if (op == "Conv" && axis == 1 && weight.size() > 2) return weight[1] * attribute(node, "group", 1);
    if (op == "ConvTranspose" && axis == 1 && weight.size() > 2) return weight[0];
    if (op == "MatMul" && last && weight.size() >= 2) return weight[weight.size() - 2];
    if (op == "Gemm" && weight.size() == 2 && axis == (attribute(node, "transA", 0) != 0 ? 0u : 1u))
      return weight[attribute(node, "transB", 0) != 0 ? 1 : 0];
    if ((op == "LSTM" || op == "GRU" || op == "RNN") && last && weight.size() == 3) return weight[2];
    if (op == "LayerNormalization" && last && weight.size() == 1) return weight[0];
    if (op == "BatchNormalization" && axis == 1 && weight.size() == 1) return weight[0];
    return 0;
  }

  pb::GraphProto graph_;
  std::unordered_map<std::string, Dims> weights_;
};

void add_option(DynamicDim& dim, std::int64_t size, const std::string& why) {
  if (size >= 1 && std::ranges::find(dim.options, size, &SizeOption::size) == dim.options.end())
    dim.options.push_back({size, why});
}

void add_usual(DynamicDim& dim) {
  for (const UsualSizes& usual : usual_sizes())
    if (usual.kind == dim.kind)
      for (const std::int64_t size : usual.sizes) add_option(dim, size, std::string(usual.what));
}

std::vector<SizeOption> cheap_first(const DynamicDim& dim) {
  std::vector<SizeOption> options = dim.options;
  const auto usual = std::ranges::find(usual_sizes(), dim.kind, &UsualSizes::kind);
  std::ranges::stable_sort(options, {}, [&](const SizeOption& option) {
    return std::ranges::find(usual->cheap, option.size) - usual->cheap.begin();
  });
  return options;
}

}  // namespace

std::vector<DynamicDim> dynamic_dims(const std::filesystem::path& model, std::span<const ValueInfo> inputs,
                                     const InputMeanings& meanings) {
  std::vector<DynamicDim> dims;
  const WeightReader weights(model);
  for (const ValueInfo& input : inputs) {
    for (std::size_t axis = 0; axis < input.dims.size(); ++axis) {
      if (input.dims[axis].is_static()) continue;
      auto dim = std::ranges::find(dims, input.dims[axis].symbol, &DynamicDim::name);
      if (dim == dims.end())
        dim = dims.insert(dims.end(), {input.dims[axis].symbol, kind_of(input, axis, meanings), {}, {}});
      const std::int64_t asked = weights.asked(input.name, axis, input.dims.size());
      if (asked == 0) continue;
      dim->kind = DimKind::fixed;
      add_option(*dim, asked, "its weights ask for it");
    }
  }
  std::vector<std::int64_t> constants = small_constants(model, kLargestConstant);
  if (constants.size() > kMostConstants) constants.resize(kMostConstants);
  for (DynamicDim& dim : dims) {
    add_usual(dim);
    for (const ValueInfo& input : inputs)
      for (const AxisInfo& axis : input.dims)
        if (axis.is_static()) add_option(dim, axis.size, "a size of input " + input.name);
    for (const std::int64_t constant : constants) add_option(dim, constant, "a constant of the model");
    dim.cheap = cheap_first(dim);
  }
  return dims;
}

std::optional<std::int64_t> derived_size(const std::string& name, SymbolSizes sizes) {
  std::string formula;
  std::ranges::remove_copy(name, std::back_inserter(formula), ' ');
  if (formula.find_first_of("+*/") == std::string::npos) return std::nullopt;
  sizes.erase(name);
  return Extent{-1, formula}.at(sizes);
}

void require_dim(const std::string& name, std::span<const DynamicDim> dims) {
  std::vector<std::string> names;
  for (const DynamicDim& dim : dims) names.push_back(dim.name);
  if (std::ranges::find(names, name) != names.end()) return;
  if (names.empty())
    throw UsageError("the model has no dynamic dims, and none of this name", "--bind " + name,
                     "leave it out");
  const std::string hint = suggestion(name, names);
  throw UsageError("no dynamic dim of the model's inputs has this name", "--bind " + name,
                   hint.empty() ? "`regraft inspect` lists them" : hint);
}

}
