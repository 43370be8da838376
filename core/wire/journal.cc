#include "core/wire/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <vector>

#include "core/base/hash.h"

namespace regraft::wire {
namespace {

constexpr char kMagic[8] = {'R', 'G', 'J', 'R', 'N', 'L', '0', '1'};
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

// The record at an offset, if there is a whole and intact one.
std::optional<Parsed> parse(std::span<const std::byte> file, std::uint64_t at) {
  const std::uint64_t rest = file.size() - at;
  if (rest < kHeadBytes + kSumBytes) return std::nullopt;
  const auto length = read_as<std::uint32_t>(file, at);
  if (length > kMaxPayloadBytes || rest < kHeadBytes + length + kSumBytes) return std::nullopt;
  const auto summed = file.subspan(at, kHeadBytes + length);
  if (hash_bytes(summed, at).low != read_as<std::uint64_t>(file, at + summed.size())) return std::nullopt;
  Parsed parsed;
  parsed.record.type = read_as<std::uint16_t>(file, at + 4);
  parsed.flags = read_as<std::uint16_t>(file, at + 6);
  parsed.record.payload = summed.subspan(kHeadBytes);
  parsed.record.end = at + summed.size() + kSumBytes;
  return parsed;
}

bool synced_record_after(std::span<const std::byte> file, std::uint64_t from) {
  for (std::uint64_t at = from + 1; at < file.size(); ++at) {
    const auto parsed = parse(file, at);
    if (parsed && (parsed->flags & kSynced)) return true;
  }
  return false;
}

}  // namespace

Journal::Journal(std::filesystem::path path, const std::function<void(const Record&)>& replay)
    : path_(std::move(path)) {
  file_ = FileDescriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file_) fail_errno("cannot open the journal", errno);
  lock();
  read_all(replay);
}

void Journal::lock() {
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) == 0) return;
  if (errno != EWOULDBLOCK) fail_errno("cannot lock the journal", errno);
  fail("another learner holds this journal", "end that one first, or use another run folder");
}

void Journal::read_all(const std::function<void(const Record&)>& replay) {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) fail_errno("cannot read the journal", errno);
  const auto length = static_cast<std::uint64_t>(status.st_size);
  if (length < sizeof kMagic) return start_file();
  const MappedFile mapping(path_);
  const auto bytes = mapping.bytes();
  if (std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) {
    fail("this is no journal of this version of regraft", "use another run folder");
  }
  size_ = sizeof kMagic;
  while (size_ < length) {
    const auto parsed = parse(bytes, size_);
    if (!parsed) break;
    replay(parsed->record);
    size_ = parsed->record.end;
  }
  if (length == size_) return;
  if (synced_record_after(bytes, size_)) {
    fail("damaged at byte " + std::to_string(size_) + ", before records that had reached the disk",
         "restore the file, or start a new run from the checkpoint's weights");
  }
  if (::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0)
    fail_errno("cannot cut the torn tail off", errno);
}

void Journal::start_file() {
  if (::ftruncate(file_.get(), 0) != 0) fail_errno("cannot start the journal", errno);
  write_at_end(std::as_bytes(std::span(kMagic)));
  sync();
  // A new file survives a power loss only when its folder is on the disk too.
  sync_folder(path_.has_parent_path() ? path_.parent_path() : std::filesystem::path("."));
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
  const std::uint64_t sum = hash_bytes(std::span(record).first(kHeadBytes + length), size_).low;
  std::memcpy(record.data() + kHeadBytes + length, &sum, sizeof sum);
  write_at_end(record);
  return size_;
}

void Journal::write_at_end(std::span<const std::byte> bytes) {
  if (broken_)
    fail("an earlier write failed and could not be undone", "free the disk and restart the learner");
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto written =
        ::pwrite(file_.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(size_ + done));
    if (written > 0) {
      done += static_cast<std::size_t>(written);
      continue;
    }
    const int error = written == 0 ? ENOSPC : errno;
    if (error == EINTR) continue;
    broken_ = ::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0;
    fail_errno("cannot write the journal", error);
  }
  size_ += bytes.size();
}

void Journal::sync() {
  if (::fsync(file_.get()) == 0) return;
  const int error = errno;
  broken_ = true;  // after a failed fsync nothing is known about what is on the disk
  fail_errno("cannot sync the journal", error);
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

}  // namespace regraft::wire
