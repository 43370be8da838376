#pragma once

#include <filesystem>
#include <optional>

#include "core/wire/run_info.h"

// Inside core/wire only.

namespace regraft::wire {

/// The run file that a relay writes for its actors. A relay that is started again may write it anew while
/// the old one still ends: then it stays. Writing and removing lock the folder, where its file system can.
class RelayFile {
 public:
  explicit RelayFile(std::filesystem::path path) : path_(std::move(path)) {}

  /// Throws FileError.
  void save(const RunInfo& own);
  /// Removes what was saved last, if that is still there. While the own sockets listen: nobody else's file
  /// names the same endpoints then.
  void remove();

 private:
  std::filesystem::path path_;
  std::optional<RunInfo> own_;
};

}
