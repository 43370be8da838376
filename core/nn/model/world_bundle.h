#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/nn/model/world_model.h"

namespace regraft::nn {

/// What is published and swapped as one: a world model and a controller made for it (opaque here; may be
/// empty).
struct WorldBundle {
  WorldModel world;
  std::vector<std::byte> controller;
  Hash128 controller_of;  // version() of the world it was trained in; not read where there is none
  /// What actors shall do with it (replay/dream/dream_work.h; opaque here); empty in files.
  std::vector<std::byte> work = {};

  bool operator==(const WorldBundle&) const = default;
};

/// One block of bytes: magic, format, manifest (JSON), parts by length, hash of all.
std::vector<std::byte> encode_bundle(const WorldBundle& bundle);
/// Throws NnError (no bundle, truncated, damaged, another format) and what check() throws, MixedVersions for
/// a controller of another world.
WorldBundle decode_bundle(std::span<const std::byte> bytes, const std::string& where);

/// A file that is there whole or not at all. Throw NnError and FileError.
void save_bundle(const WorldBundle& bundle, const std::filesystem::path& path);
WorldBundle load_bundle(const std::filesystem::path& path);

/// The bundle in use, and how many were refused for a mixture of versions. One thread.
class BundleSlot {
 public:
  /// Takes another bundle; false, counted, and the old one stays, where its parts do not belong together.
  /// Throws NnError for other damage.
  bool take(std::span<const std::byte> bytes, const std::string& where);

  const WorldBundle* bundle() const { return bundle_.get(); }  // null before the first
  std::uint64_t refused() const { return refused_; }

 private:
  std::unique_ptr<WorldBundle> bundle_;
  std::uint64_t refused_ = 0;
};

}
