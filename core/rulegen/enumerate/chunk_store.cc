#include "core/rulegen/enumerate/chunk_store.h"

#include <algorithm>
#include <cstring>

#include "core/base/atomic_file.h"
#include "core/base/bytes.h"
#include "core/base/crc32c.h"

namespace regraft::rulegen {
namespace {

constexpr std::array<char, 8> kMagic = {'R', 'G', 'C', 'H', 'N', 'K', '0', '1'};

struct Header {
  std::array<char, 8> magic = kMagic;
  Hash128 options;
  std::array<std::uint64_t, ChunkStore::kParts + 1> begins{};  // in records
};
struct PartHeader {
  std::array<char, 8> magic = {'R', 'G', 'P', 'A', 'R', 'T', '0', '1'};
  Hash128 options;
  std::uint64_t records = 0, levels = 0;
  std::array<std::uint32_t, kMostDepth> way{};
};
static_assert(sizeof(GraphRecord) == 32 && std::is_trivially_copyable_v<GraphRecord>);

std::size_t part_of(const GraphRecord& record) {
  return record.print.low >> 56;
}

// The first of a file's bytes; nothing where the file is of another kind or torn.
template <typename Head>
std::optional<Head> head_of(std::span<const std::byte> bytes) {
  Head head;
  const auto magic = head.magic;
  if (bytes.size() < sizeof head + sizeof(std::uint32_t)) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  const std::size_t body = bytes.size() - sizeof(std::uint32_t);
  std::uint32_t crc = 0;
  std::memcpy(&crc, bytes.data() + body, sizeof crc);
  if (head.magic != magic || crc32c(bytes.first(body)) != crc) return std::nullopt;
  return head;
}

// Whether so many records are what follows it.
template <typename Head>
bool is_followed_by(std::span<const std::byte> bytes, std::uint64_t records) {
  return bytes.size() == sizeof(Head) + records * sizeof(GraphRecord) + sizeof(std::uint32_t);
}

template <typename Head>
void write_records(const std::filesystem::path& path, const Head& head,
                   const std::vector<GraphRecord>& records) {
  Bytes bytes;
  ByteWriter out(bytes);
  out.value(head);
  out.raw(std::as_bytes(std::span(records)));
  out.value(crc32c(bytes));
  write_file_atomic(path, bytes);
}

}  // namespace

ChunkStore::ChunkStore(std::filesystem::path folder, const Hash128& options)
    : folder_(std::move(folder)), options_(options) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) throw FileError("cannot be made: " + error.message(), folder_.string(), "give another folder");
}

std::filesystem::path ChunkStore::path(std::size_t unit) const {
  return folder_ / ("unit-" + std::to_string(unit) + ".chunk");
}

std::filesystem::path ChunkStore::path_of_part(std::size_t unit) const {
  return folder_ / ("unit-" + std::to_string(unit) + ".part");
}

bool ChunkStore::has(std::size_t unit) const {
  if (!std::filesystem::exists(path(unit)) || std::filesystem::file_size(path(unit)) == 0) return false;
  const MappedFile file(path(unit));
  const auto header = head_of<Header>(file.bytes());
  if (!header || !is_followed_by<Header>(file.bytes(), header->begins.back())) return false;
  if (header->options != options_) {
    throw RulegenError("holds the work of a generation with other options", folder_.string(),
                       "give the same options to go on with it, or another folder");
  }
  return true;
}

void ChunkStore::write(std::size_t unit, const std::vector<GraphRecord>& records) const {
  Header header;
  header.options = options_;
  for (const GraphRecord& record : records) ++header.begins[part_of(record) + 1];
  for (std::size_t p = 0; p < kParts; ++p) header.begins[p + 1] += header.begins[p];
  write_records(path(unit), header, records);
  std::error_code ignored;
  std::filesystem::remove(path_of_part(unit), ignored);
}

UnitPart ChunkStore::part_of_unit(std::size_t unit) const {
  const std::filesystem::path at = path_of_part(unit);
  if (!std::filesystem::exists(at) || std::filesystem::file_size(at) == 0) return {};
  const MappedFile file(at);
  const auto head = head_of<PartHeader>(file.bytes());
  const bool fits = head && head->options == options_ && head->levels <= head->way.size() &&
                    is_followed_by<PartHeader>(file.bytes(), head->records);
  if (!fits) return {};
  UnitPart part;
  part.way.assign(head->way.begin(), head->way.begin() + static_cast<std::ptrdiff_t>(head->levels));
  part.records.resize(head->records);
  if (head->records > 0)
    std::memcpy(part.records.data(), file.bytes().data() + sizeof *head, head->records * sizeof(GraphRecord));
  return part;
}

void ChunkStore::write_part(std::size_t unit, const UnitPart& part) const {
  PartHeader head;
  head.options = options_;
  head.records = part.records.size();
  head.levels = part.way.size();
  std::copy(part.way.begin(), part.way.end(), head.way.begin());
  write_records(path_of_part(unit), head, part.records);
}

std::vector<MappedFile> ChunkStore::open_all(std::size_t units) const {
  std::vector<MappedFile> files;
  for (std::size_t unit = 0; unit < units; ++unit) files.emplace_back(path(unit));
  return files;
}

std::size_t ChunkStore::part_bytes(std::span<const MappedFile> files, std::size_t part) {
  std::size_t records = 0;
  for (const MappedFile& file : files) {
    Header header;
    std::memcpy(&header, file.bytes().data(), sizeof header);
    records += header.begins[part + 1] - header.begins[part];
  }
  return records * sizeof(GraphRecord);
}

std::vector<GraphRecord> ChunkStore::read_part(std::span<const MappedFile> files, std::size_t part) {
  std::vector<GraphRecord> out;
  out.reserve(part_bytes(files, part) / sizeof(GraphRecord));
  for (const MappedFile& file : files) {
    Header header;
    std::memcpy(&header, file.bytes().data(), sizeof header);
    const std::uint64_t begin = header.begins[part], count = header.begins[part + 1] - begin;
    const std::size_t held = out.size();
    out.resize(held + count);
    if (count > 0) {
      std::memcpy(out.data() + held, file.bytes().data() + sizeof header + begin * sizeof(GraphRecord),
                  count * sizeof(GraphRecord));
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void add_classes(const std::vector<GraphRecord>& records, const OpTable& table, GraphClasses& classes) {
  for (std::size_t begin = 0; begin < records.size();) {
    std::size_t end = begin;
    bool ordered = false;
    for (; end < records.size() && records[end].print == records[begin].print; ++end)
      ordered = ordered || uses_first_leaves(records[end].code, table);
    if (end - begin > 1 && ordered) {
      for (std::size_t i = begin; i < end; ++i) classes.members.push_back(records[i].code);
      classes.begins.push_back(classes.members.size());
    }
    begin = end;
  }
}

}
