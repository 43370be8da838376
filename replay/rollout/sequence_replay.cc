#include "replay/rollout/sequence_replay.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

namespace regraft::replay {

SequenceBatch draw_sequences(std::span<const std::uint32_t> lengths, std::uint32_t time, std::uint32_t lanes,
                             bool packed, Rng& rng) {
  SequenceBatch batch{.time = time, .lanes = lanes, .places = {}, .valid = {}, .starts = {}};
  batch.valid.assign(std::size_t{time} * lanes, 0.0f);
  batch.starts.assign(std::size_t{time} * lanes, 0.0f);
  for (std::uint32_t lane = 0, used = 0; lane < lanes;) {
    const auto episode = static_cast<std::size_t>(rng.below(lengths.size()));
    const std::uint32_t length = std::min(lengths[episode], time);
    if (used + length > time) {  // padding to the end of this lane
      used = 0;
      if (++lane == lanes) break;
    }
    batch.places.push_back({lane, used, episode, length});
    batch.starts[batch.at(used, lane)] = 1;
    for (std::uint32_t t = used; t < used + length; ++t) batch.valid[batch.at(t, lane)] = 1;
    used += length;
    if (packed && used < time) continue;
    used = 0;
    ++lane;
  }
  return batch;
}

SequenceReplay::SequenceReplay(Options options) : options_(std::move(options)) {
  if (options_.spill.empty()) return;
  file_ = FileDescriptor(
      ::open(options_.spill.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file_)
    throw FileError(std::string("cannot be made: ") + std::strerror(errno), options_.spill.string(),
                    "choose a writable folder for the spill file");
}

SequenceReplay::~SequenceReplay() {
  if (file_) ::unlink(options_.spill.c_str());
}

void SequenceReplay::add(const Rollout& rollout) {
  add_encoded(encode_rollout(rollout), static_cast<std::uint32_t>(rollout.steps.size()));
}

void SequenceReplay::add_encoded(Bytes bytes, std::uint32_t length) {
  memory_ += bytes.size();
  steps_ += length;
  const std::size_t size = bytes.size();
  entries_.push_back({std::move(bytes), 0, size});
  lengths_.push_back(length);
  shrink();
}

/// The newest is always held.
void SequenceReplay::shrink() {
  while (file_ && memory_ > options_.memory_bytes && first_in_memory_ + 1 < entries_.size())
    spill_one(entries_[first_in_memory_++]);
  const auto too_much = [&] { return memory_ > options_.memory_bytes || disk_ > options_.disk_bytes; };
  while (too_much() && entries_.size() > 1 && (first_in_memory_ > 0 || !file_)) {
    const bool spilled = first_in_memory_ > 0;
    if (spilled) give_back(entries_.front().offset + entries_.front().size);
    (spilled ? disk_ : memory_) -= entries_.front().size;
    first_in_memory_ -= spilled ? 1 : 0;
    steps_ -= lengths_.front();
    entries_.pop_front();
    lengths_.pop_front();
    ++forgotten_;
  }
}

/// Disk space before `end` is no longer needed. Where holes cannot be made the file merely stays larger.
void SequenceReplay::give_back(std::uint64_t end) {
  constexpr std::uint64_t kWorthwhile = std::uint64_t{1} << 20;
  if (end < given_back_ + kWorthwhile) return;
  ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(given_back_),
              static_cast<off_t>(end - given_back_));
  given_back_ = end;
}

void SequenceReplay::spill_one(Entry& entry) {
  std::size_t done = 0;
  while (done < entry.size) {
    const auto written = ::pwrite(file_.get(), entry.bytes.data() + done, entry.size - done,
                                  static_cast<off_t>(file_end_ + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      throw FileError(std::string("cannot be written: ") + std::strerror(errno), options_.spill.string(),
                      "free space there, or spill elsewhere");
    done += static_cast<std::size_t>(written);
  }
  entry.offset = file_end_;
  file_end_ += entry.size;
  disk_ += entry.size;
  memory_ -= entry.size;
  Bytes().swap(entry.bytes);
}

Bytes SequenceReplay::read(const Entry& entry) const {
  if (!entry.bytes.empty()) return entry.bytes;
  Bytes bytes(entry.size);
  std::size_t done = 0;
  while (done < entry.size) {
    const auto got =
        ::pread(file_.get(), bytes.data() + done, entry.size - done, static_cast<off_t>(entry.offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw FileError("cannot be read back", options_.spill.string(), "it was changed meanwhile");
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

Rollout SequenceReplay::at(std::size_t index) const {
  return decode_rollout(read(entries_.at(index)));
}

void SequenceReplay::sort_by_sequence() {
  std::vector<std::uint64_t> sequences(size());
  for (std::size_t i = 0; i < size(); ++i) sequences[i] = at(i).sequence;
  if (std::is_sorted(sequences.begin(), sequences.end())) return;
  std::vector<std::size_t> order(size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sequences[a] < sequences[b]; });
  std::vector<Bytes> all;
  std::vector<std::uint32_t> lengths;
  for (const std::size_t i : order) {
    all.push_back(read(entries_[i]));
    lengths.push_back(lengths_[i]);
  }
  clear();
  for (std::size_t i = 0; i < all.size(); ++i) add_encoded(std::move(all[i]), lengths[i]);
}

void SequenceReplay::clear() {
  entries_.clear();
  lengths_.clear();
  first_in_memory_ = memory_ = disk_ = 0;
  file_end_ = given_back_ = steps_ = 0;
}

Bytes SequenceReplay::save() const {
  Bytes bytes;
  ByteWriter out(bytes);
  out.varint(forgotten_);
  out.varint(entries_.size());
  for (const Entry& entry : entries_) {
    out.varint(entry.size);
    out.raw(read(entry));
  }
  return bytes;
}

void SequenceReplay::restore(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  const std::uint64_t forgotten = in.varint();
  std::vector<Bytes> all(in.count());
  std::vector<std::uint32_t> lengths;
  for (Bytes& held : all) {
    const auto raw = in.raw(in.count());
    held.assign(raw.begin(), raw.end());
    lengths.push_back(static_cast<std::uint32_t>(decode_rollout(held).steps.size()));
  }
  in.finish();
  clear();
  forgotten_ = forgotten;
  for (std::size_t i = 0; i < all.size(); ++i) add_encoded(std::move(all[i]), lengths[i]);
}

}
