// The eight real models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/file.h"
#include "core/base/resource_usage.h"
#include "core/graph/order.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "support/models.h"
#include "support/validate.h"

namespace regraft::onnx {
namespace {

struct Model {
  const char* name;
  std::size_t operations;  // NodeProtos that are no Constant
  const char* output;
};

class RealModels : public ::testing::TestWithParam<Model> {};

TEST_P(RealModels, AreUnderstoodAndWrittenBackByteForByte) {
  const auto path = regraft::testing::unpacked_model(GetParam().name);
  const ImportedModel model = import_model(path);
  const graph::Graph& graph = model.graph();
  graph::validate(graph);
  EXPECT_EQ(graph.operation_count(), GetParam().operations);
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
    EXPECT_NE(graph.node(id).kind, graph::OpKind::opaque) << model.op_type(graph.node(id).origin);
    for (std::uint32_t k = 0; k < graph.node(id).outputs.size(); ++k)
      EXPECT_TRUE(graph.type({id, k}).ranked) << model.value_name({id, k});
  }
  EXPECT_EQ(model.tables().describe(graph.type_id(graph.outputs()[0])), GetParam().output);

  const TempDir folder;
  export_model(model, graph, folder.path() / "out.onnx");
  const MappedFile before(path), after(folder.path() / "out.onnx");
  ASSERT_EQ(before.bytes().size(), after.bytes().size());
  EXPECT_TRUE(std::equal(before.bytes().begin(), before.bytes().end(), after.bytes().begin()));
}

TEST_P(RealModels, HashTheSameEachTime) {
  const auto path = regraft::testing::unpacked_model(GetParam().name);
  EXPECT_EQ(graph::structural_hash(import_model(path).graph()),
            graph::structural_hash(import_model(path).graph()));
}

const Model kAllRealModels[] = {
    {"bert_base", 769, "float32[1, 128, 768]"}, {"inception_v3", 309, "float32[1, 1000]"},
    {"nasrnn", 295, "float32[1, 512]"},         {"resnet18", 69, "float32[batch, 1000]"},
    {"resnet50", 175, "float32[1, 1000]"},      {"resnext50_32x4d", 175, "float32[1, 1000]"},
    {"squeezenet1_1", 65, "float32[1, 1000]"},  {"vit_b_16", 936, "float32[1, 1000]"}};
INSTANTIATE_TEST_SUITE_P(All, RealModels, ::testing::ValuesIn(kAllRealModels),
                         [](const auto& instance) { return std::string(instance.param.name); });

#if defined(__has_feature)
#define REGRAFT_CLANG_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define REGRAFT_CLANG_SANITIZED 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || REGRAFT_CLANG_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

TEST(Memory, ImportAndExportOfBertStayBelowItsSize) {
  if (kSanitized) GTEST_SKIP() << "sanitizers keep shadow memory of their own";
  const auto path = regraft::testing::unpacked_model("bert_base");
  const TempDir folder;
  std::ofstream("/proc/self/clear_refs") << "5";  // forgets the peak so far
  const ImportedModel model = import_model(path);
  export_model(model, model.graph(), folder.path() / "out.onnx");
  const std::uint64_t peak = peak_rss_bytes(), size = std::filesystem::file_size(path);
  ASSERT_GT(peak, 0u);
  EXPECT_LT(static_cast<double>(peak), 1.3 * static_cast<double>(size));
  RecordProperty("peak_rss_mb", static_cast<int>(peak >> 20));
}

}  // namespace
}
