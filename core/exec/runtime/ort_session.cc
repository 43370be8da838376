#include "core/exec/runtime/ort_session.h"

#include <onnxruntime_cxx_api.h>
#include <time.h>
#include <xmmintrin.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

#include "core/base/error.h"
#include "core/base/processors.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/runtime/narrow_types.h"
#include "core/exec/runtime/runtime_message.h"
#include "core/graph/dim_name.h"

namespace regraft::exec {
namespace {

/// Where the runtime looks for the external data of a model that is given as bytes.
constexpr const char* kDataFolder = "session.model_external_initializers_file_folder_path";
constexpr std::array kLevelNames{"none", "basic", "extended", "all"};
constexpr std::array kLevels{ORT_DISABLE_ALL, ORT_ENABLE_BASIC, ORT_ENABLE_EXTENDED, ORT_ENABLE_ALL};

void check_readable(const std::filesystem::path& model) {
  std::error_code failure;
  const auto status = std::filesystem::status(model, failure);
  if (!std::filesystem::exists(status)) throw ExecError("no such file", model, "check the path of the model");
  if (std::filesystem::is_directory(status)) {
    throw ExecError("is a directory", model, "give the .onnx file itself");
  }
  if (!std::ifstream(model)) throw ExecError("cannot be read", model, "check its permissions");
  if (std::filesystem::file_size(model, failure) == 0) {
    throw ExecError("the file is empty", model, "fetch or export the model again");
  }
}

ExecError load_error(const Ort::Exception& error, const std::filesystem::path& model) {
  const std::string detail = runtime_message(error.what());
  switch (error.GetOrtErrorCode()) {
    case ORT_INVALID_PROTOBUF:
      return {"not an ONNX model, or a truncated one (" + detail + ")", model,
              "fetch or export the model again"};
    case ORT_NOT_IMPLEMENTED:
      return {"ONNX Runtime has no CPU kernel for an op of the model: " + detail, model,
              "export the model at another opset or without that op"};
    default:
      const bool external =
          detail.find("xternal data") != detail.npos || detail.find("xternal initializer") != detail.npos;
      return {"ONNX Runtime cannot load the model: " + detail, model,
              external ? "its external data must lie beside it, complete"
                       : "check that ONNX Runtime alone can load it"};
  }
}

ExecError run_error(const Ort::Exception& error, const std::filesystem::path& model) {
  return {"the model fails when it runs: " + runtime_message(error.what()), model,
          "check the sizes given with --bind and the inputs"};
}

/// The runtime numbers types as ONNX does, except for some that came after its public header.
constexpr std::pair<int, DType> kOtherNumbers[] = {
    {24, DType::uint2}, {25, DType::int2}, {26, DType::float8e8m0}};

DType dtype_of(ONNXTensorElementDataType type) {
  const auto* other = std::ranges::find(kOtherNumbers, static_cast<int>(type), &std::pair<int, DType>::first);
  return other == std::end(kOtherNumbers) ? static_cast<DType>(type) : other->second;
}

ONNXTensorElementDataType type_of(DType dtype) {
  const auto* other = std::ranges::find(kOtherNumbers, dtype, &std::pair<int, DType>::second);
  return static_cast<ONNXTensorElementDataType>(other == std::end(kOtherNumbers) ? static_cast<int>(dtype)
                                                                                 : other->first);
}

double clock_ms(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

ValueInfo describe_value(std::string name, const Ort::TypeInfo& type) {
  ValueInfo info{std::move(name), DType::undefined, {}};
  const auto holding = [&](Container container, const Ort::TypeInfo& held) {
    info = describe_value(std::move(info.name), held);
    if (info.container != Container::map) info.container = container;  // a sequence of maps is one here
    return info;
  };
  switch (type.GetONNXType()) {
    case ONNX_TYPE_TENSOR:
      break;
    case ONNX_TYPE_OPTIONAL:
      return describe_value(std::move(info.name), type.GetOptionalTypeInfo().GetOptionalElementType());
    case ONNX_TYPE_SEQUENCE:
      return holding(Container::sequence, type.GetSequenceTypeInfo().GetSequenceElementType());
    case ONNX_TYPE_MAP:
      return holding(Container::map, type.GetMapTypeInfo().GetMapValueType());
    default:
      return info;
  }
  const auto tensor = type.GetTensorTypeAndShapeInfo();
  info.dtype = dtype_of(tensor.GetElementType());
  const std::vector<std::int64_t> sizes = tensor.GetShape();
  std::vector<const char*> symbols(sizes.size(), "");
  if (!sizes.empty()) tensor.GetSymbolicDimensions(symbols.data(), symbols.size());
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    const std::string fallback = info.name + "." + std::to_string(axis);
    const std::string symbol = graph::is_dim_name(symbols[axis]) ? symbols[axis] : fallback;
    info.dims.push_back({sizes[axis], sizes[axis] < 0 ? symbol : std::string()});
  }
  return info;
}

Ort::SessionOptions settings_of(const SessionOptions& options) {
  Ort::SessionOptions settings;
  settings.SetGraphOptimizationLevel(kLevels[static_cast<std::size_t>(options.optimisation)]);
  settings.SetIntraOpNumThreads(options.threads);
  settings.SetInterOpNumThreads(1);
  settings.SetExecutionMode(ORT_SEQUENTIAL);
  give(options.settings, settings);
  if (!options.profile_prefix.empty()) settings.EnableProfiling(options.profile_prefix.c_str());
  if (!options.rewritten_model.empty()) settings.SetOptimizedModelFilePath(options.rewritten_model.c_str());
  return settings;
}

Ort::Value to_ort(const Tensor& tensor) {
  if (tensor.container == Container::sequence) {
    std::vector<Ort::Value> items;
    for (const Tensor& item : tensor.items) items.push_back(to_ort(item));
    return Ort::Value::CreateSequence(items);
  }
  Ort::AllocatorWithDefaultOptions allocator;
  const ONNXTensorElementDataType type = type_of(tensor.dtype);
  if (tensor.dtype == DType::string) {
    Ort::Value value = Ort::Value::CreateTensor(allocator, tensor.dims.data(), tensor.dims.size(), type);
    std::vector<const char*> texts;
    for (const std::string& text : tensor.strings) texts.push_back(text.c_str());
    value.FillStringTensor(texts.data(), texts.size());
    return value;
  }
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  // The runtime takes inputs as non-const and does not write to them.
  auto* bytes = const_cast<std::byte*>(tensor.bytes.data());
  return Ort::Value::CreateTensor(memory, bytes, tensor.bytes.size(), tensor.dims.data(), tensor.dims.size(),
                                  type);
}

Tensor from_ort(const Ort::Value& value) {
  if (!value.HasValue()) return {DType::undefined, {}, {}, {}, Container::nothing};
  if (!value.IsTensor()) {
    const bool map = value.GetTypeInfo().GetONNXType() == ONNX_TYPE_MAP;
    Tensor holder{DType::undefined, {}, {}, {}, map ? Container::map : Container::sequence};
    Ort::AllocatorWithDefaultOptions allocator;
    for (std::size_t i = 0; i < value.GetCount(); ++i)
      holder.items.push_back(from_ort(value.GetValue(static_cast<int>(i), allocator)));
    if (!holder.items.empty()) holder.dtype = holder.items.back().dtype;
    return holder;
  }
  const auto info = value.GetTensorTypeAndShapeInfo();
  Tensor tensor{dtype_of(info.GetElementType()), info.GetShape(), {}, {}};
  if (tensor.dtype == DType::string) {
    for (std::size_t i = 0; i < info.GetElementCount(); ++i)
      tensor.strings.push_back(value.GetStringTensorElement(i));
    return tensor;
  }
  const auto* bytes = static_cast<const std::byte*>(value.GetTensorRawData());
  const std::size_t count = info.GetElementCount();
  tensor.bytes.assign(bytes, bytes + stored_bytes(tensor.dtype, count));
  // The runtime leaves the part of a byte that no element takes as it was.
  if (const NarrowType* narrow = narrow_type(tensor.dtype))
    if (const std::size_t used = count * narrow->bits % 8; used != 0)
      tensor.bytes.back() &= static_cast<std::byte>((1 << used) - 1);
  return tensor;
}

/// Denormals as zero in the calling thread while it lives. The runtime does so at the first session of a
/// process alone; its other threads get it from each session.
class DenormalsAsZero {
 public:
  explicit DenormalsAsZero(bool wanted) : before_(_mm_getcsr()) {
    constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x40;
    if (wanted) _mm_setcsr(before_ | kFlushToZero | kDenormalsAreZero);
  }
  ~DenormalsAsZero() { _mm_setcsr(before_); }
  DenormalsAsZero(const DenormalsAsZero&) = delete;
  DenormalsAsZero& operator=(const DenormalsAsZero&) = delete;

 private:
  unsigned before_;
};

}  // namespace

std::string_view optimisation_name(Optimisation level) {
  return kLevelNames[static_cast<std::size_t>(level)];
}

Optimisation optimisation_from_name(std::string_view name) {
  const auto found = std::find(kLevelNames.begin(), kLevelNames.end(), name);
  if (found == kLevelNames.end())
    throw UsageError("unknown optimisation '" + std::string(name) + "'", "ONNX Runtime",
                     "choose none, basic, extended or all");
  return static_cast<Optimisation>(found - kLevelNames.begin());
}

std::string runtime_version() {
  return OrtGetApiBase()->GetVersionString();
}

int session_threads(int asked) {
  return asked == kThreadsOfRuntime ? physical_cores() : asked;
}

struct OrtSession::Impl {
  explicit Impl(const SessionOptions& options) {
    const auto denormals = options.settings.find("session.set_denormal_as_zero");
    denormals_as_zero = denormals != options.settings.end() && denormals->second == "1";
  }

  bool denormals_as_zero = false;
  Ort::Env env{ORT_LOGGING_LEVEL_FATAL, "regraft"};
  Ort::Session session{nullptr};
  std::vector<const char*> input_names, output_names;

  std::vector<Ort::Value> run(const std::vector<Ort::Value>& inputs) {
    const DenormalsAsZero mode(denormals_as_zero);
    return session.Run(Ort::RunOptions{nullptr}, input_names.data(), inputs.data(), inputs.size(),
                       output_names.data(), output_names.size());
  }
};

OrtSession::OrtSession(const std::filesystem::path& model, const SessionOptions& options)
    : path_(model), threads_(options.threads), impl_(std::make_unique<Impl>(options)) {
  check_readable(model);
  try {
    impl_->session = Ort::Session(impl_->env, model.c_str(), settings_of(options));
    describe();
  } catch (const Ort::Exception& error) {
    throw load_error(error, model);
  }
}

OrtSession::OrtSession(std::string_view bytes, const std::filesystem::path& like,
                       const SessionOptions& options)
    : path_(like), threads_(options.threads), impl_(std::make_unique<Impl>(options)) {
  try {
    Ort::SessionOptions settings = settings_of(options);
    const std::filesystem::path folder = std::filesystem::absolute(like).parent_path();
    settings.AddConfigEntry(kDataFolder, folder.c_str());
    impl_->session = Ort::Session(impl_->env, bytes.data(), bytes.size(), settings);
    describe();
  } catch (const Ort::Exception& error) {
    throw load_error(error, like);
  }
}

void OrtSession::describe() {
  Ort::AllocatorWithDefaultOptions allocator;
  const Ort::Session& session = impl_->session;
  for (std::size_t i = 0; i < session.GetInputCount(); ++i)
    inputs_.push_back(
        describe_value(session.GetInputNameAllocated(i, allocator).get(), session.GetInputTypeInfo(i)));
  for (std::size_t i = 0; i < session.GetOutputCount(); ++i)
    outputs_.push_back(
        describe_value(session.GetOutputNameAllocated(i, allocator).get(), session.GetOutputTypeInfo(i)));
  for (const ValueInfo& input : inputs_) impl_->input_names.push_back(input.name.c_str());
  for (const ValueInfo& output : outputs_) impl_->output_names.push_back(output.name.c_str());
}

void OrtSession::fix(const SymbolSizes& sizes) {
  for (ValueInfo& input : inputs_)
    for (AxisInfo& axis : input.dims)
      if (const auto size = sizes.find(axis.symbol); !axis.is_static() && size != sizes.end())
        axis = {size->second, ""};
}

OrtSession::~OrtSession() = default;
OrtSession::OrtSession(OrtSession&&) noexcept = default;
OrtSession& OrtSession::operator=(OrtSession&&) noexcept = default;

namespace {

/// Why a tensor, or what holds some, does not fit an input; empty where it does.
std::string misfit(const ValueInfo& info, const Tensor& given) {
  if (given.container != info.container)
    return "the tensor given for input " + info.describe() + " is a " + describe(given);
  for (const Tensor* part : parts_of(given)) {
    const bool text = part->dtype == DType::string;
    const std::size_t held = text ? part->strings.size() : part->bytes.size();
    const std::size_t wanted =
        text ? part->element_count() : stored_bytes(part->dtype, part->element_count());
    if (part->dtype != info.dtype || held != wanted)
      return "the tensor given for input " + info.describe() + " is " + graph::dtype_name(part->dtype) +
             " with " + std::to_string(held) + (text ? " strings" : " bytes") + " for " +
             std::to_string(wanted);
  }
  return "";
}

}  // namespace

void OrtSession::check_inputs(std::span<const Tensor> inputs) const {
  if (inputs.size() != inputs_.size()) {
    throw ExecError("the model takes " + std::to_string(inputs_.size()) + " inputs, " +
                        std::to_string(inputs.size()) + " were given",
                    path_, "");
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const std::string problem = misfit(inputs_[i], inputs[i]); !problem.empty())
      throw ExecError(problem, path_, "");
}

std::vector<Tensor> OrtSession::run(std::span<const Tensor> inputs) {
  check_inputs(inputs);
  for (const ValueInfo& output : outputs_) {
    if (output.dtype == DType::undefined) {
      throw ExecError("output " + output.name + " is neither a tensor nor a sequence or map", path_,
                      "export the model with tensor outputs");
    }
  }
  try {
    std::vector<Ort::Value> values;
    for (const Tensor& tensor : inputs) values.push_back(to_ort(tensor));
    std::vector<Tensor> results;
    for (const Ort::Value& value : impl_->run(values)) results.push_back(from_ort(value));
    return results;
  } catch (const Ort::Exception& error) {
    throw run_error(error, path_);
  }
}

std::vector<double> OrtSession::time_runs_ms(std::span<const Tensor> inputs, const TimingPlan& plan) {
  check_inputs(inputs);
  try {
    std::vector<Ort::Value> values;
    for (const Tensor& tensor : inputs) values.push_back(to_ort(tensor));
    for (int i = 0; i < plan.warmup_runs; ++i) impl_->run(values);
    const clockid_t clock = threads_ == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
    std::vector<double> times;
    double spent_ms = 0;
    for (int run = 0; run < plan.max_runs &&
                      (static_cast<int>(times.size()) < plan.min_runs || spent_ms < plan.budget_s * 1e3);
         ++run) {
      const double start = clock_ms(clock);
      impl_->run(values);
      const double time_ms = clock_ms(clock) - start;
      if (time_ms <= 0) continue;  // a busy virtual machine's clock of a thread stands still at times
      times.push_back(time_ms);
      spent_ms += time_ms;
    }
    return times;
  } catch (const Ort::Exception& error) {
    throw run_error(error, path_);
  }
}

std::filesystem::path OrtSession::finish_profile() {
  Ort::AllocatorWithDefaultOptions allocator;
  return impl_->session.EndProfilingAllocated(allocator).get();
}

}
