#include "launch/output_files.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "core/base/file.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

std::size_t count(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
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

TEST(OutputFiles, WhatAKilledRunLeftIsNotEmitted) {
  const TempDir dir;
  const fs::path output = dir.path() / "model.onnx";
  fs::path left;
  {
    const OutputFiles killed(output);
    left = killed.aside().parent_path();
  }
  fs::create_directory(left);
  write(left / "model.onnx.partial", "half of it");
  {
    OutputFiles files(output);
    write(files.aside(), "whole");
    files.commit();
  }
  EXPECT_EQ(read_file(output), "whole");
  EXPECT_EQ(count(dir.path()), 2u) << "the model, and the folder that was left";
}

}  // namespace
}  // namespace regraft::launch
