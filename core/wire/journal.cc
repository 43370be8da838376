#include "core/wire/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <vector>

#include "core/base/atomic_file.h"
#include "core/base/hash.h"

namespace regraft::wire {
namespace {

constexpr char kMagic[8] = {'R', 'G', 'J', 'R', 'N', 'L', '0', '1'};
constexpr char kCompacted[8] = {'R', 'G', 'J', 'R', 'N', 'L', '0', '2'};
constexpr std::size_t kCompactedHead = sizeof kCompacted + 2 * sizeof(std::uint64_t);
constexpr std::size_t kHeadBytes = 8;  // length, type, flags
constexpr std::size_t kSumBytes = 8;
constexpr std::uint32_t kMaxPayloadBytes = 1u << 16;
constexpr std::uint16_t kSynced = 1;

struct Parsed {
  Journal::Record record;
  std::uint16_t flags = 0;
};

template <class T>
T read_as(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// The record at a place, if there is a whole and intact one. Its offset is `shift` more.
std::optional<Parsed> parse(std::span<const std::byte> file, std::uint64_t at, std::uint64_t shift) {
  const std::uint64_t rest = file.size() - at;
  if (rest < kHeadBytes + kSumBytes) return std::nullopt;
  const auto length = read_as<std::uint32_t>(file, at);
  if (length > kMaxPayloadBytes || rest < kHeadBytes + length + kSumBytes) return std::nullopt;
  const auto summed = file.subspan(at, kHeadBytes + length);
  if (hash_bytes(summed, at + shift).low != read_as<std::uint64_t>(file, at + summed.size()))
    return std::nullopt;
  Parsed parsed;
  parsed.record.type = read_as<std::uint16_t>(file, at + 4);
  parsed.flags = read_as<std::uint16_t>(file, at + 6);
  parsed.record.payload = summed.subspan(kHeadBytes);
  parsed.record.end = at + shift + summed.size() + kSumBytes;
  return parsed;
}

bool synced_record_after(std::span<const std::byte> file, std::uint64_t from, std::uint64_t shift) {
  for (std::uint64_t at = from + 1; at < file.size(); ++at) {
    const auto parsed = parse(file, at, shift);
    if (parsed && (parsed->flags & kSynced)) return true;
  }
  return false;
}

bool is_named(const FileDescriptor& file, const std::filesystem::path& path) {
  struct stat opened {
  }, named{};
  return ::fstat(file.get(), &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

Journal::Journal(std::filesystem::path path, const std::function<void(const Record&)>& replay)
    : path_(std::move(path)), file_(open_locked(path_)) {
  read_all(replay);
}

FileDescriptor Journal::open_locked(const std::filesystem::path& path) const {
  for (;;) {
    FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file) fail_errno("cannot open the journal", errno);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) fail_errno("cannot lock the journal", errno);
      fail("another learner holds this journal", "end that one first, or use another run folder");
    }
    if (is_named(file, path)) return file;  // else it was compacted in between: another file has its name
  }
}

void Journal::read_all(const std::function<void(const Record&)>& replay) {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) fail_errno("cannot read the journal", errno);
  const auto length = static_cast<std::uint64_t>(status.st_size);
  if (length < sizeof kMagic) return start_file();
  const MappedFile mapping(path_);
  const auto bytes = mapping.bytes();
  if (std::memcmp(bytes.data(), kCompacted, sizeof kCompacted) == 0) {
    read_snapshot(bytes, replay);
  } else if (std::memcmp(bytes.data(), kMagic, sizeof kMagic) == 0) {
    end_ = sizeof kMagic;
  } else {
    fail("this is no journal of this version of regraft", "use another run folder");
  }
  while (file_bytes() < length) {
    const auto parsed = parse(bytes, file_bytes(), shift_);
    if (!parsed) break;
    replay(parsed->record);
    end_ = parsed->record.end;
  }
  if (length == file_bytes()) return;
  if (synced_record_after(bytes, file_bytes(), shift_))
    fail_damaged(file_bytes(), "before records that had reached the disk");
  if (::ftruncate(file_.get(), static_cast<off_t>(file_bytes())) != 0)
    fail_errno("cannot cut the torn tail off", errno);
}

/// It was on the disk before the file had its name: one that is not whole is no torn tail.
void Journal::read_snapshot(std::span<const std::byte> file,
                            const std::function<void(const Record&)>& replay) {
  if (file.size() < kCompactedHead + kSumBytes) fail_damaged(file.size(), "in its snapshot");
  const auto next = read_as<std::uint64_t>(file, sizeof kCompacted);
  const auto length = read_as<std::uint64_t>(file, sizeof kCompacted + sizeof next);
  if (length > file.size() - kCompactedHead - kSumBytes) fail_damaged(file.size(), "in its snapshot");
  const auto summed = file.first(kCompactedHead + length);
  const std::uint64_t place = summed.size() + kSumBytes;
  if (next < place || hash_bytes(summed, 0).low != read_as<std::uint64_t>(file, summed.size()))
    fail_damaged(kCompactedHead, "in its snapshot");
  end_ = next;
  shift_ = next - place;
  replay({.payload = summed.subspan(kCompactedHead), .end = next});
}

void Journal::compact(std::span<const std::byte> snapshot) {
  std::vector<std::byte> file(kCompactedHead + snapshot.size() + kSumBytes);
  const std::uint64_t length = snapshot.size(), next = std::max<std::uint64_t>(end_, file.size());
  std::memcpy(file.data(), kCompacted, sizeof kCompacted);
  std::memcpy(file.data() + sizeof kCompacted, &next, sizeof next);
  std::memcpy(file.data() + sizeof kCompacted + sizeof next, &length, sizeof length);
  std::ranges::copy(snapshot, file.begin() + kCompactedHead);
  const std::uint64_t sum = hash_bytes(std::span(file).first(kCompactedHead + length), 0).low;
  std::memcpy(file.data() + kCompactedHead + length, &sum, sizeof sum);
  // It is locked before it has its name: whoever looks finds the journal held.
  const std::filesystem::path aside = path_.string() + ".compacted";
  write_file_atomic(aside, file);
  FileDescriptor compacted = open_locked(aside);
  std::error_code problem;
  std::filesystem::rename(aside, path_, problem);
  if (problem)
    throw FileError("cannot be renamed: " + problem.message(), aside.string(),
                    "check the folder and the disk");
  file_ = std::move(compacted);
  end_ = next;
  shift_ = next - file.size();
  broken_ = true;  // where nothing is known about what is on the disk
  sync_folder(folder_of(path_));
  broken_ = false;
}

void Journal::start_file() {
  if (::ftruncate(file_.get(), 0) != 0) fail_errno("cannot start the journal", errno);
  write_at_end(std::as_bytes(std::span(kMagic)));
  sync();
  // A new file survives a power loss only when its folder is on the disk too.
  sync_folder(folder_of(path_));
}

std::uint64_t Journal::append(std::uint16_t type, std::span<const std::byte> payload) {
  return write_record(type, 0, payload);
}

std::uint64_t Journal::append_synced(std::uint16_t type, std::span<const std::byte> payload) {
  const std::uint64_t end = write_record(type, kSynced, payload);
  sync();
  return end;
}

std::uint64_t Journal::write_record(std::uint16_t type, std::uint16_t flags,
                                    std::span<const std::byte> payload) {
  if (payload.size() > kMaxPayloadBytes) fail("a record of " + std::to_string(payload.size()) + " bytes", "");
  std::vector<std::byte> record(kHeadBytes + payload.size() + kSumBytes);
  const auto length = static_cast<std::uint32_t>(payload.size());
  std::memcpy(record.data(), &length, sizeof length);
  std::memcpy(record.data() + 4, &type, sizeof type);
  std::memcpy(record.data() + 6, &flags, sizeof flags);
  if (length > 0) std::memcpy(record.data() + kHeadBytes, payload.data(), length);
  const std::uint64_t sum = hash_bytes(std::span(record).first(kHeadBytes + length), end_).low;
  std::memcpy(record.data() + kHeadBytes + length, &sum, sizeof sum);
  write_at_end(record);
  return end_;
}

void Journal::write_at_end(std::span<const std::byte> bytes) {
  if (broken_)
    fail("an earlier write failed and could not be undone", "free the disk and restart the learner");
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto written = ::pwrite(file_.get(), bytes.data() + done, bytes.size() - done,
                                  static_cast<off_t>(file_bytes() + done));
    if (written > 0) {
      done += static_cast<std::size_t>(written);
      continue;
    }
    const int error = written == 0 ? ENOSPC : errno;
    if (error == EINTR) continue;
    broken_ = ::ftruncate(file_.get(), static_cast<off_t>(file_bytes())) != 0;
    fail_errno("cannot write the journal", error);
  }
  end_ += bytes.size();
}

void Journal::sync() {
  if (::fsync(file_.get()) == 0) return;
  const int error = errno;
  broken_ = true;  // after a failed fsync nothing is known about what is on the disk
  fail_errno("cannot sync the journal", error);
}

void Journal::fail_damaged(std::uint64_t at, const std::string& where) const {
  fail("damaged at byte " + std::to_string(at) + ", " + where,
       "restore the file, or start a new run from the checkpoint's weights");
}

void Journal::fail(const std::string& what, const std::string& remedy) const {
  throw WireError(WireFault::kJournal, what, path_.string(), remedy);
}

void Journal::fail_errno(const std::string& what, int error) const {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  fail(what + ": " + std::generic_category().message(error),
       full ? "free space there, then resume; nothing unwritten was acknowledged"
            : "is the run folder writable?");
}

}
