#include "launch/optimise/output_files.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "core/base/file.h"
#include "core/onnx/import.h"
#include "core/onnx/model_builder.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

std::size_t count(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// x times a weight that lies in the given file beside the model.
void write_external(const fs::path& model, const std::string& data) {
  onnx::test::ModelBuilder builder;
  builder.input("x", {"1", "8"}).output("y", {"1", "8"}).floats("w", {8, 8});
  builder.node("MatMul", {"x", "w"}, {"y"});
  auto& weight = *builder.model.mutable_graph()->mutable_initializer(0);
  write(model.parent_path() / data, weight.raw_data());
  weight.clear_raw_data();
  weight.set_data_location(::onnx::TensorProto::EXTERNAL);
  auto& entry = *weight.add_external_data();
  entry.set_key("location");
  entry.set_value(data);
  write(model, builder.bytes());
}

// Process numbers do not tell apart the containers of one file system, nor this process from a killed one.
TEST(OutputFiles, TwoOfOneNumberWriteApart) {
  const TempDir dir;
  const fs::path output = dir.path() / "model.onnx";
  OutputFiles one(output), other(output);
  write(one.aside(), "one");
  write(other.aside(), "other");
  one.commit();
  EXPECT_EQ(read_file(output), "one");
  other.commit();
  EXPECT_EQ(read_file(output), "other");
}

TEST(OutputFiles, NamesAreAsLongAsTheSystemAllows) {
  const TempDir dir;
  const fs::path output = dir.path() / (std::string(250, 'n') + ".onnx");
  OutputFiles files(output);
  write(files.aside(), "one");
  files.commit();
  EXPECT_EQ(read_file(output), "one");
}

// Its lock tells the folder of a live process from one that a killed process left, whatever their numbers.
TEST(OutputFiles, WhatAKilledRunLeftGoesAndIsNotEmitted) {
  const TempDir dir;
  const fs::path output = dir.path() / "model.onnx";
  fs::path left;
  {
    const OutputFiles killed(output);
    left = killed.aside().parent_path();
  }
  fs::create_directory(left);
  write(left / "model.onnx.partial", "half of it");
  fs::create_directory(dir.path() / ".other.flock.aside6");  // none of ours
  const OutputFiles alive(dir.path() / "other.onnx");
  {
    OutputFiles files(output);
    EXPECT_TRUE(fs::exists(alive.aside().parent_path()));
    write(files.aside(), "whole");
    files.commit();
  }
  EXPECT_EQ(read_file(output), "whole");
  EXPECT_EQ(count(dir.path()), 3u) << "the model, what lives, and what is not ours";
}

// Data of the same name that another model still uses.
TEST(OutputFiles, DataOfAnotherModelIsNotReplaced) {
  const TempDir from, to;
  write_external(from.path() / "model.onnx", "model.onnx.data");
  write_external(to.path() / "another.onnx", "model.onnx.data");
  write(to.path() / "model.onnx.data", std::string(256, 'x'));
  const onnx::ImportedModel model = onnx::import_model(from.path() / "model.onnx");
  OutputFiles files(to.path() / "model.onnx");
  files.copy_of(model);
  EXPECT_THROW(files.commit(), FileError);
  EXPECT_EQ(read_file(to.path() / "model.onnx.data"), std::string(256, 'x'));
  fs::remove(to.path() / "another.onnx");
  files.commit();
  EXPECT_EQ(read_file(to.path() / "model.onnx.data"), read_file(from.path() / "model.onnx.data"));
}

// A long name, which no string holds in itself: the names were once read after their model was gone.
TEST(OutputFiles, ACopyBringsItsExternalData) {
  const TempDir from, to;
  const std::string data = "weights_of_the_model_in_a_file_with_a_long_name.bin";
  write_external(from.path() / "model.onnx", data);
  {
    OutputFiles files(to.path() / "copy.onnx");
    files.copy_of(onnx::import_model(from.path() / "model.onnx"));
    files.commit();
  }
  EXPECT_EQ(read_file(to.path() / "copy.onnx"), read_file(from.path() / "model.onnx"));
  EXPECT_EQ(read_file(to.path() / data), read_file(from.path() / data));
  EXPECT_EQ(count(to.path()), 2u);
}

}  // namespace
}
