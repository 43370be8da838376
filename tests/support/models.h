#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/process.h"

namespace regraft::testing {

/// The model `name` of tests/models ("nasrnn"), unpacked into build/models on first use; that folder is
/// shared by all presets and by tests that run at the same time. Throws Error when it cannot be unpacked.
inline std::filesystem::path unpacked_model(const std::string& name) {
  const std::filesystem::path root(REGRAFT_SOURCE_DIR), packed = root / "tests/models" / (name + ".onnx.xz");
  const std::filesystem::path folder = root / "build/models", target = folder / (name + ".onnx");
  if (std::filesystem::exists(target)) return target;
  std::filesystem::create_directories(folder);
  const auto aside = folder / (name + ".partial-" + std::to_string(::getpid()));
  std::filesystem::remove(aside);
  const SpawnOptions unpack{
      .argv = {"sh", "-c", "exec xz --decompress --stdout \"$0\" > \"$1\"", packed.string(), aside.string()}};
  if (const ExitStatus status = Child(unpack).wait(); !status.ok()) {
    std::filesystem::remove(aside);
    throw Error("cannot be unpacked: xz gave " + status.describe(), packed.string(),
                "check the disk and the file");
  }
  std::filesystem::rename(aside, target);
  return target;
}

}
