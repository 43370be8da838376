// Bytes that nobody meant as a model: an OnnxError or a graph, never a crash.
#include <gmock/gmock.h>

#include <filesystem>

#include "core/base/file.h"
#include "core/base/rng.h"
#include "core/onnx/export.h"
#include "core/onnx/model_builder.h"
#include "core/onnx/onnx_error.h"
#include "core/onnx/protobuf_wire.h"
#include "support/validate.h"

namespace regraft::onnx {
namespace {

using test::Built;
using test::import_text;
using test::ModelBuilder;

std::string varied_model() {
  ModelBuilder builder;
  builder.input("x", {"n", "2", "5", "5"})
      .output("y", {"n", "50"})
      .floats("w", {2, 2, 3, 3})
      .floats("large", {20, 20});
  builder.ints("shape", {0, -1});
  test::set_text(builder.node("Conv", {"x", "w"}, {"c"}), "auto_pad", "SAME_UPPER");
  builder.node("Shape", {"c"}, {"s"});
  builder.node("Reshape", {"c", "shape"}, {"r"});
  test::set_int(builder.node("Softmax", {"r"}, {"y"}), "axis", 1);
  return builder.bytes();
}

/// Either outcome is fine; what is accepted must also be consistent and exportable.
bool survives(const std::string& bytes) {
  try {
    const ImportedModel model = import_text(bytes);
    graph::validate(model.graph());
    return !export_model_bytes(model, model.graph()).empty();
  } catch (const OnnxError&) {
    return true;
  }
}

TEST(Hostile, EveryTruncation) {
  const std::string good = varied_model();
  for (std::size_t size = 0; size < good.size(); ++size) EXPECT_TRUE(survives(good.substr(0, size))) << size;
}

TEST(Hostile, FlippedBytes) {
  const std::string good = varied_model();
  constexpr std::uint64_t kSeed = 7;
  Rng rng(kSeed, "flips");
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    for (std::uint64_t flips = 1 + rng.below(4); flips > 0; --flips)
      bad[rng.below(bad.size())] = static_cast<char>(rng.below(256));
    EXPECT_TRUE(survives(bad)) << "seed " << kSeed << ", round " << i;
  }
}

TEST(Hostile, DeepNesting) {
  // A graph in an attribute in a node in a graph, and so on.
  for (const int depth : {10, 30, 200, 3000}) {
    std::string inner;
    for (int level = 0; level < depth; ++level) {
      for (const std::uint32_t field :
           {6u, 5u, 1u}) {  // AttributeProto.g, NodeProto.attribute, GraphProto.node
        std::string outer;
        append_varint(outer, bytes_tag(field));
        append_varint(outer, inner.size());
        inner = outer + inner;
      }
      if (inner.size() > 2000000) break;
    }
    std::string model = "\x08\x08";
    append_varint(model, bytes_tag(7));
    append_varint(model, inner.size());
    EXPECT_TRUE(survives(model + inner)) << depth;
  }
}

TEST(Hostile, HugeDimsAreRefusedBeforeAnythingIsAllocated) {
  ModelBuilder builder;
  builder.input("x", {"2"}).output("y", {"2"}).floats("w", {2});
  builder.node("Add", {"x", "w"}, {"y"});
  auto& tensor = *builder.model.mutable_graph()->mutable_initializer(0);
  for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{std::int64_t{1} << 62},
                                                {std::int64_t{1} << 32, std::int64_t{1} << 32},
                                                {std::numeric_limits<std::int64_t>::max(), 8}}) {
    tensor.clear_dims();
    for (const auto dim : dims) tensor.add_dims(dim);
    const std::string bytes = builder.bytes();
    EXPECT_THROW(import_text(bytes), OnnxError);
  }
}

TEST(Hostile, ConstantsThatWouldExplodeStayUnfolded) {
  ModelBuilder builder;
  builder.input("x", {"1"})
      .output("y", {"a", "b", "c"})
      .ints("huge", {1 << 20, 1 << 20, 1 << 10})
      .floats("w", {1});
  builder.node("Expand", {"w", "huge"}, {"e"});
  builder.node("ConstantOfShape", {"huge"}, {"z"});
  builder.node("Add", {"e", "z"}, {"s"});
  builder.node("Mul", {"s", "x"}, {"y"});
  const Built model(builder);
  EXPECT_TRUE(model.known_values().empty());
  EXPECT_EQ(export_model_bytes(model, model.graph()), model.bytes);
}

TEST(Hostile, TheFuzzersFirstInputsPass) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(REGRAFT_SOURCE_DIR) /
                                                               "tests/fuzz/onnx_import")) {
    EXPECT_TRUE(survives(read_file(entry.path()))) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 20u);
}

}  // namespace
}
