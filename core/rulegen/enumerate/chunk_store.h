#pragma once

// Internal to core/rulegen: records of work units on disk.

#include <filesystem>
#include <vector>

#include "core/base/file.h"
#include "core/rulegen/enumerate/enumerator.h"

namespace regraft::rulegen {

/// One file a work unit, whole or not there (AtomicFile), so that a killed generation goes on with the units
/// that are missing. A file: magic, hash of the options, where each part begins, the records in order,
/// CRC-32C. A file of its own for what was done of a unit when the time was over. Parts divide records by
/// fingerprint; equal fingerprints lie in one part of each file. write() may be called from several threads
/// for different units.
class ChunkStore {
 public:
  static constexpr std::size_t kParts = 256;

  /// Throws FileError where the folder cannot be made.
  ChunkStore(std::filesystem::path folder, const Hash128& options);

  /// Whether the unit's file is there and whole. Throws RulegenError where it is of other options.
  bool has(std::size_t unit) const;
  /// Its part, if there is one, goes.
  void write(std::size_t unit, const std::vector<GraphRecord>& records) const;
  /// What an earlier run did of a unit; nothing where it did not begin, or the file is torn or of other
  /// options.
  UnitPart part_of_unit(std::size_t unit) const;
  void write_part(std::size_t unit, const UnitPart& part) const;
  /// All units, to read; each must be there.
  std::vector<MappedFile> open_all(std::size_t units) const;
  /// What the records of one part of all units take in memory.
  static std::size_t part_bytes(std::span<const MappedFile> files, std::size_t part);
  /// Records of one part of all units, sorted, each once.
  static std::vector<GraphRecord> read_part(std::span<const MappedFile> files, std::size_t part);

 private:
  std::filesystem::path path(std::size_t unit) const;
  std::filesystem::path path_of_part(std::size_t unit) const;

  std::filesystem::path folder_;
  Hash128 options_;
};

/// Graphs that compute the same, at all points.
struct GraphClasses {
  std::vector<GraphCode> members;      // class after class, ascending in each
  std::vector<std::size_t> begins{0};  // of each class, and one past the last

  std::size_t size() const { return begins.size() - 1; }
  std::span<const GraphCode> of(std::size_t number) const {
    return std::span(members).subspan(begins[number], begins[number + 1] - begins[number]);
  }
};

/// Adds the classes of one part that have at least two graphs, one of them of the first leaves. Among classes
/// that differ only in names of leaves, one has such a graph.
void add_classes(const std::vector<GraphRecord>& records, const OpTable& table, GraphClasses& classes);

}
