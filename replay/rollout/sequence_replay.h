#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <span>
#include <vector>

#include "core/base/file.h"
#include "core/base/rng.h"
#include "replay/rollout/rollout.h"

namespace regraft::replay {

/// A stretch of an episode in a batch: steps [0, length) of episode `episode`, at time `time` of lane `lane`.
struct SequencePlace {
  std::uint32_t lane = 0, time = 0;
  std::size_t episode = 0;
  std::uint32_t length = 0;

  bool operator==(const SequencePlace&) const = default;
};

/// Sequences for a recurrent model: lanes of equal length in which whole episodes follow each other. Arrays
/// are [time, lanes], row-major.
struct SequenceBatch {
  std::uint32_t time = 0, lanes = 0;
  std::vector<SequencePlace> places;
  std::vector<float> valid;   // 0 for padding
  std::vector<float> starts;  // 1 where an episode begins: the hidden state is reset before that step

  std::size_t at(std::uint32_t t, std::uint32_t lane) const { return std::size_t{t} * lanes + lane; }
};

/// Lays episodes of these lengths (each at least 1), drawn uniformly with replacement, into lanes. An episode
/// that does not fit into the rest of its lane starts the next one, and the rest is padding. One that is
/// longer than a lane is cut at its end, so every hidden state begins where an episode does. Not `packed`,
/// each lane holds one episode. The same stream gives the same batch. At least one episode, `time` and
/// `lanes` at least 1.
SequenceBatch draw_sequences(std::span<const std::uint32_t> lengths, std::uint32_t time, std::uint32_t lanes,
                             bool packed, Rng& rng);

/// Episodes for fitting a world model: graphs in the form of action logs, never latents, which would drift
/// from their encoder. Bounded by bytes: beyond `memory_bytes` the oldest go to a spill file, beyond
/// `disk_bytes` of it (or without one) they are forgotten and counted. One thread.
class SequenceReplay {
 public:
  struct Options {
    std::size_t memory_bytes = std::size_t{256} << 20;  // of encoded rollouts
    std::filesystem::path spill;                        // a file that is made and removed again; empty: none
    std::size_t disk_bytes = std::size_t{4} << 30;
  };
  /// Throws FileError when the spill file cannot be made.
  explicit SequenceReplay(Options options);
  ~SequenceReplay();
  SequenceReplay(const SequenceReplay&) = delete;
  SequenceReplay& operator=(const SequenceReplay&) = delete;

  /// Throws FileError (a full disk).
  void add(const Rollout& rollout);
  /// The `index`-th of those that are held, oldest first. Throws FileError, ReplayError on a damaged spill.
  Rollout at(std::size_t index) const;
  /// Lengths of all rollouts, in that order.
  const std::deque<std::uint32_t>& lengths() const { return lengths_; }

  std::size_t size() const { return entries_.size(); }
  std::uint64_t steps() const { return steps_; }  // of those that are held
  std::size_t memory_bytes() const { return memory_; }
  std::size_t disk_bytes() const { return disk_; }
  std::uint64_t forgotten() const { return forgotten_; }

  /// Puts them into the order of their tickets, so that what is fitted does not depend on who came first.
  void sort_by_sequence();

  /// All that is held, for checkpoints; restore() replaces what is held and throws ReplayError.
  Bytes save() const;
  void restore(std::span<const std::byte> bytes);

 private:
  struct Entry {
    Bytes bytes;               // empty once spilled
    std::uint64_t offset = 0;  // in the spill file
    std::size_t size = 0;
  };

  void add_encoded(Bytes bytes, std::uint32_t length);
  void shrink();
  void spill_one(Entry& entry);
  void give_back(std::uint64_t end);
  Bytes read(const Entry& entry) const;
  void clear();

  Options options_;
  FileDescriptor file_;
  std::uint64_t file_end_ = 0, given_back_ = 0;
  std::deque<Entry> entries_;
  std::deque<std::uint32_t> lengths_;
  std::size_t first_in_memory_ = 0;  // older entries are spilled
  std::size_t memory_ = 0, disk_ = 0;
  std::uint64_t steps_ = 0, forgotten_ = 0;
};

}
