#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "core/base/file.h"
#include "core/wire/error.h"

namespace regraft::wire {

/// An append-only file of checksummed records, written before what they tell is done.
///
/// File: 8 bytes of magic, then records: u32 payload length, u16 type, u16 flags, payload, u64 XXH3 of all of
/// these, seeded with the record's offset. One write() a record: what append() returned from survives kill
/// -9; what append_synced() returned from also survives a power loss.
///
/// Opening reads all records and cuts a torn tail off. Damage that is followed by a synced record is no torn
/// tail: the file was altered, and opening throws. The file is locked: one process writes it. Not
/// thread-safe. Errors: WireError(kJournal); after a failed append (a full disk) the file is as before, and
/// append may be tried again.
class Journal {
 public:
  struct Record {
    std::uint16_t type = 0;
    std::span<const std::byte> payload;  // valid during the callback
    std::uint64_t end = 0;               // offset behind the record
  };

  /// Creates the file if it is missing; else calls `replay` for each record, in order.
  Journal(std::filesystem::path path, const std::function<void(const Record&)>& replay);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Both return the offset behind the new record.
  std::uint64_t append(std::uint16_t type, std::span<const std::byte> payload);
  std::uint64_t append_synced(std::uint16_t type, std::span<const std::byte> payload);

  std::uint64_t size_bytes() const { return size_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  void lock();
  void read_all(const std::function<void(const Record&)>& replay);
  void start_file();
  std::uint64_t write_record(std::uint16_t type, std::uint16_t flags, std::span<const std::byte> payload);
  void write_at_end(std::span<const std::byte> bytes);
  void sync();
  [[noreturn]] void fail(const std::string& what, const std::string& remedy) const;
  [[noreturn]] void fail_errno(const std::string& what, int error) const;

  std::filesystem::path path_;
  FileDescriptor file_;
  std::uint64_t size_ = 0;
  bool broken_ = false;
};

}  // namespace regraft::wire
