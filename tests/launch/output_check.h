#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/process.h"
#include "support/onnx_checker.h"

namespace regraft::launch::testing {

/// Holds what `regraft optimise` wrote against ONNX's full check, where it differs from its input and the
/// input passes itself. Without ONNX for Python it says so, and nothing is checked.
inline void check_output(const std::vector<std::string>& arguments, const Captured& ran) {
  constexpr std::string_view kJoined = "--output=";
  if (!ran.status.ok() || std::ranges::find(arguments, "optimise") == arguments.end()) return;
  std::filesystem::path output;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].starts_with(kJoined)) output = arguments[i].substr(kJoined.size());
    if (i > 0 && (arguments[i - 1] == "-o" || arguments[i - 1] == "--output")) output = arguments[i];
  }
  const TempDir folder;
  if (output == "-") write_file_atomic(output = folder.path() / "output.onnx", ran.output);
  if (!std::filesystem::is_regular_file(output)) return;
  std::vector<std::filesystem::path> models{output};
  for (const std::string& argument : arguments)  // the input, before all options or among them
    if (argument.ends_with(".onnx") && argument != output && std::filesystem::is_regular_file(argument))
      models.push_back(argument);
  if (models.size() == 2 && read_file(models[0]) == read_file(models[1])) return;
  const auto complaints = regraft::testing::onnx_complaints(REGRAFT_ONNX_PREFIX, models);
  if (!complaints) {
    std::cout << "note: no ONNX for /usr/bin/python3 in " REGRAFT_ONNX_PREFIX ": outputs are not checked\n";
  } else if (models.size() == 1 || complaints->at(1).empty()) {
    EXPECT_EQ(complaints->at(0), "") << "ONNX's check of the output";
  }
}

}
