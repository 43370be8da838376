#include "core/exec/runtime/model_skeleton.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using testing::TempFolder;

TEST(ModelSkeleton, KeepsEverythingButPayloads) {
  const TempFolder folder;
  const auto path = testing::affine(2, 1).write(folder / "m.onnx");
  const ::onnx::GraphProto graph = read_skeleton(path);
  EXPECT_EQ(graph.node_size(), 2);
  EXPECT_EQ(graph.input(0).name(), "x");
  EXPECT_EQ(graph.output(0).name(), "y");
  ASSERT_EQ(graph.initializer_size(), 2);
  EXPECT_EQ(graph.initializer(0).name(), "scale");
  EXPECT_EQ(graph.initializer(0).dims(0), 1);
  EXPECT_EQ(graph.initializer(0).raw_data(), "");
}

TEST(ModelSkeleton, RefusesEveryTruncation) {
  const TempFolder folder;
  const std::string whole = testing::affine(2, 1).bytes();
  // Cuts inside the graph; a cut at a field border behind it would be a whole, smaller message.
  for (std::size_t size = 1; size < whole.size() - 10; ++size) {
    std::ofstream(folder / "cut.onnx", std::ios::binary) << whole.substr(0, size);
    EXPECT_THROW(read_skeleton(folder / "cut.onnx"), Error) << size << " of " << whole.size();
  }
}

}  // namespace
}
