// A model of 3 GB, made on the fly with external data, in one file and in many; what it costs in memory.
// Needs 7 GB on the disk and half a minute: only with the environment variable REGRAFT_LARGE=1 (tests/run.sh
// --large).
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/resource_usage.h"
#include "core/graph/order.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "core/onnx/model_builder.h"

namespace regraft::onnx {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kRows = 8192, kColumns = 8192;  // 256 MiB a tensor
constexpr std::uint64_t kTensorBytes = kRows * kColumns * sizeof(float);
constexpr int kTensors = 12;

void forget_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

/// Distinct pages, so that nothing is shared and nothing is sparse.
void append_tensor(std::ofstream& file, int number) {
  std::vector<std::uint64_t> block(1 << 17);
  for (std::uint64_t written = 0; written < kTensorBytes; written += block.size() * sizeof block[0]) {
    for (std::size_t i = 0; i < block.size(); ++i)
      block[i] =
          (written + i * 8 + static_cast<std::uint64_t>(number) * kTensorBytes) & 0x3F7FFFFF3F7FFFFFull;
    file.write(reinterpret_cast<const char*>(block.data()),
               static_cast<std::streamsize>(block.size() * sizeof block[0]));
  }
}

fs::path make_model(const fs::path& folder, bool one_file) {
  test::ModelBuilder builder;
  builder.input("x", {"1", std::to_string(kRows)}).output("y", {"1", std::to_string(kColumns)});
  std::ofstream data;
  std::string last = "x";
  for (int i = 0; i < kTensors; ++i) {
    const std::string file = one_file ? "weights.bin" : "weights" + std::to_string(i) + ".bin";
    if (i == 0 || !one_file) {
      data.close();
      data.open(folder / file, std::ios::binary);
    }
    append_tensor(data, i);
    ::onnx::TensorProto& tensor = *builder.model.mutable_graph()->add_initializer();
    tensor.set_name("w" + std::to_string(i));
    tensor.set_data_type(::onnx::TensorProto::FLOAT);
    tensor.add_dims(kRows);
    tensor.add_dims(kColumns);
    tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
    const std::uint64_t offset = one_file ? static_cast<std::uint64_t>(i) * kTensorBytes : 0;
    for (const auto& [key, value] :
         std::vector<std::pair<std::string, std::string>>{{"location", file},
                                                          {"offset", std::to_string(offset)},
                                                          {"length", std::to_string(kTensorBytes)}}) {
      auto* entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    const std::string next = i + 1 == kTensors ? "y" : "h" + std::to_string(i);
    builder.node("MatMul", {last, tensor.name()}, {next});
    last = next;
  }
  write_file_atomic(folder / "model.onnx", builder.bytes());
  return folder / "model.onnx";
}

class Large : public ::testing::TestWithParam<bool> {};

TEST_P(Large, ThreeGigabytesInAndOutInBoundedMemory) {
  if (std::getenv("REGRAFT_LARGE") == nullptr) GTEST_SKIP() << "set REGRAFT_LARGE=1";
  const TempDir folder;
  const fs::path path = make_model(folder.path(), GetParam());
  forget_peak();
  const ImportedModel model = import_model(path);
  const auto in = peak_rss_bytes();
  const fs::path out = folder.path() / "out.onnx";
  export_model(model, model.graph(), out);
  const auto peak = peak_rss_bytes();
  std::cout << kTensors * kTensorBytes / 1000000 << " MB in " << (GetParam() ? "one file" : "many files")
            << ": peak RSS " << in / 1000000 << " MB after import, " << peak / 1000000
            << " MB after export\n";
  EXPECT_LE(static_cast<double>(peak), 1.3 * static_cast<double>(kTensorBytes) + 300e6);
  EXPECT_EQ(graph::structural_hash(import_model(out).graph()), graph::structural_hash(model.graph()));
}

INSTANTIATE_TEST_SUITE_P(Files, Large, ::testing::Bool(),
                         [](const auto& instance) { return instance.param ? "One" : "Many"; });

}  // namespace
}
