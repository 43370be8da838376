#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "core/base/file.h"
#include "core/wire/wire_error.h"

namespace regraft::wire {

/// An append-only file of checksummed records, written before what they tell is done.
///
/// File: 8 bytes of magic, then records: u32 payload length, u16 type, u16 flags, payload, u64 XXH3 of all of
/// these, seeded with the record's offset. One write() a record: what append() returned from survives kill
/// -9; what append_synced() returned from also survives a power loss.
///
/// compact() puts a snapshot in the place of all records. The file then begins with other magic, u64 offset
/// that the next record has, u64 length, the snapshot, u64 XXH3 of it. Offsets go on as if nothing had been
/// cut off.
///
/// Opening reads all records and cuts a torn tail off. Damage that is followed by a synced record is no torn
/// tail: the file was altered, and opening throws. The file is locked: one process writes it. Not
/// thread-safe. Errors: WireError(kJournal); after a failed append (a full disk) the file is as before, and
/// append may be tried again.
class Journal {
 public:
  static constexpr std::uint16_t kSnapshot = 0;  // no type of appended records

  struct Record {
    std::uint16_t type = kSnapshot;
    std::span<const std::byte> payload;  // valid during the callback
    std::uint64_t end = 0;               // offset behind the record
  };

  /// Creates the file if it is missing; else calls `replay` for the snapshot, if there is one, and for each
  /// record, in order.
  Journal(std::filesystem::path path, const std::function<void(const Record&)>& replay);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Both return the offset behind the new record.
  std::uint64_t append(std::uint16_t type, std::span<const std::byte> payload);
  std::uint64_t append_synced(std::uint16_t type, std::span<const std::byte> payload);

  /// The file is as it was until it holds the snapshot alone, on the disk. Throws FileError where it cannot
  /// be written: the file is then as before; where its folder cannot be synced, nothing is appended any more.
  void compact(std::span<const std::byte> snapshot);

  std::uint64_t end() const { return end_; }  // offset of the next record
  std::uint64_t file_bytes() const { return end_ - shift_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  FileDescriptor open_locked(const std::filesystem::path& path) const;
  void read_all(const std::function<void(const Record&)>& replay);
  void start_file();
  void read_snapshot(std::span<const std::byte> file, const std::function<void(const Record&)>& replay);
  std::uint64_t write_record(std::uint16_t type, std::uint16_t flags, std::span<const std::byte> payload);
  void write_at_end(std::span<const std::byte> bytes);
  void sync();
  [[noreturn]] void fail_damaged(std::uint64_t at, const std::string& where) const;
  [[noreturn]] void fail(const std::string& what, const std::string& remedy) const;
  [[noreturn]] void fail_errno(const std::string& what, int error) const;

  std::filesystem::path path_;
  FileDescriptor file_;
  std::uint64_t end_ = 0, shift_ = 0;  // offset of the next record; of a record, less its place in the file
  bool broken_ = false;
};

}
