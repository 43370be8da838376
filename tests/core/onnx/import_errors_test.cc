#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/onnx/import.h"
#include "core/onnx/model_builder.h"

namespace regraft::onnx {
namespace {

using test::ModelBuilder;
using testing::HasSubstr;

std::string error_of(const std::string& bytes) {
  const TempDir folder;
  const auto path = folder.path() / "model.onnx";
  write_file_atomic(path, bytes);
  try {
    import_model(path);
  } catch (const OnnxError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ImportErrors, SayWhatIsWrong) {
  ModelBuilder builder;
  builder.input("x", {"2"}).output("y", {"2"}).floats("w", {500});
  builder.node("Relu", {"x"}, {"y"});
  const std::string good = builder.bytes();
  EXPECT_EQ(error_of(good), "no error");
  EXPECT_THAT(error_of(good.substr(0, good.size() / 2)), HasSubstr("is truncated or damaged"));
  EXPECT_THAT(error_of("\x89PNG\r\n\x1a\n and then some"), HasSubstr("is not an ONNX model"));
  EXPECT_THAT(error_of("hello, this is a text file\n"), HasSubstr("is not an ONNX model"));
  builder.model.clear_graph();
  EXPECT_THAT(error_of(builder.bytes()), HasSubstr("holds no graph"));
  EXPECT_THROW(import_model("/nonexistent/model.onnx"), OnnxError);
  const TempDir folder;
  write_file_atomic(folder.path() / "empty.onnx", std::string_view(""));
  EXPECT_THROW(import_model(folder.path() / "empty.onnx"), OnnxError);
}

TEST(ImportErrors, NamesMustBeDefinedOnce) {
  ModelBuilder missing;
  missing.input("x", {"2"}).output("y", {"2"});
  missing.node("Add", {"x", "nowhere"}, {"y"});
  EXPECT_THAT(error_of(missing.bytes()), HasSubstr("'nowhere'"));
  ModelBuilder twice;
  twice.input("x", {"2"}).output("y", {"2"});
  twice.node("Relu", {"x"}, {"y"});
  twice.node("Neg", {"x"}, {"y"});
  EXPECT_THAT(error_of(twice.bytes()), HasSubstr("defined twice"));
  ModelBuilder circle;
  circle.input("x", {"2"}).output("y", {"2"});
  circle.node("Add", {"x", "b"}, {"a"});
  circle.node("Add", {"x", "a"}, {"b"});
  circle.node("Relu", {"b"}, {"y"});
  EXPECT_THAT(error_of(circle.bytes()), HasSubstr("circle"));
}

TEST(ImportErrors, TensorsMustFitTheirDims) {
  ModelBuilder builder;
  builder.input("x", {"2"}).output("y", {"2"}).floats("w", {500});
  builder.node("Relu", {"x"}, {"y"});
  builder.model.mutable_graph()->mutable_initializer(0)->set_dims(0, 501);
  EXPECT_THAT(error_of(builder.bytes()), HasSubstr("tensor 'w'"));
  builder.model.mutable_graph()->mutable_initializer(0)->set_dims(0, -1);
  EXPECT_THAT(error_of(builder.bytes()), HasSubstr("negative dim"));
}

}  // namespace
}
