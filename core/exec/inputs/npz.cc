#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/inflate.h"
#include "core/exec/inputs/npz.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {
namespace {

namespace fs = std::filesystem;

// Zip (PKWARE APPNOTE 4.3): a directory at the end of the file names the members.
constexpr std::uint32_t kEndSignature = 0x06054b50, kDirectorySignature = 0x02014b50,
                        kMemberSignature = 0x04034b50;
constexpr std::uint16_t kZipVersion = 20, kZipDate = 0x21;  // that is needed; 1 January 1980
constexpr std::size_t kNpyHeadBytes = 10, kNpyAlignment = 64;
constexpr std::size_t kEndBytes = 22, kDirectoryBytes = 46, kMemberBytes = 30;
constexpr std::uint16_t kStored = 0, kDeflated = 8;

struct Member {
  std::string name;
  std::uint16_t method = kStored;
  std::size_t packed_bytes = 0, bytes = 0, offset = 0;
};

class Archive {
 public:
  explicit Archive(const fs::path& path) : path_(path), bytes_(read_file(path)) {}

  std::vector<Member> members() const {
    std::size_t end = bytes_.size() < kEndBytes ? std::string::npos : bytes_.size() - kEndBytes;
    while (end != std::string::npos && number<std::uint32_t>(end) != kEndSignature)
      end = end == 0 ? std::string::npos : end - 1;
    if (end == std::string::npos) damaged("has no directory");
    const auto count = number<std::uint16_t>(end + 10);
    std::size_t at = number<std::uint32_t>(end + 16);
    std::vector<Member> members;
    for (std::uint16_t i = 0; i < count; ++i) {
      if (number<std::uint32_t>(at) != kDirectorySignature) damaged("has a damaged directory");
      const std::size_t name = number<std::uint16_t>(at + 28), extra = number<std::uint16_t>(at + 30),
                        comment = number<std::uint16_t>(at + 32);
      members.push_back({part(at + kDirectoryBytes, name), number<std::uint16_t>(at + 10),
                         number<std::uint32_t>(at + 20), number<std::uint32_t>(at + 24),
                         number<std::uint32_t>(at + 42)});
      at += kDirectoryBytes + name + extra + comment;
    }
    return members;
  }

  std::string contents(const Member& member) const {
    if (number<std::uint32_t>(member.offset) != kMemberSignature) damaged("has a damaged member");
    const std::size_t begin = member.offset + kMemberBytes + number<std::uint16_t>(member.offset + 26) +
                              number<std::uint16_t>(member.offset + 28);
    const std::string packed = part(begin, member.packed_bytes);
    if (member.method == kStored) return packed;
    if (member.method != kDeflated) damaged("is compressed in a way that is not known");
    auto contents = inflate(packed, member.bytes);
    if (!contents) damaged("has a damaged member");
    return std::move(*contents);
  }

  [[noreturn]] void damaged(const std::string& what) const {
    throw ExecError(what, path_, "write it again with numpy.savez");
  }

 private:
  template <typename T>
  T number(std::size_t at) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(T)) damaged("is truncated");
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }

  std::string part(std::size_t at, std::size_t count) const {
    if (at > bytes_.size() || bytes_.size() - at < count) damaged("is truncated");
    return bytes_.substr(at, count);
  }

  fs::path path_;
  std::string bytes_;
};

constexpr std::array<std::pair<std::string_view, DType>, 12> kTypes{{
    {"<f4", DType::float32},
    {"<f8", DType::float64},
    {"<f2", DType::float16},
    {"<i8", DType::int64},
    {"<i4", DType::int32},
    {"<i2", DType::int16},
    {"|i1", DType::int8},
    {"<u8", DType::uint64},
    {"<u4", DType::uint32},
    {"<u2", DType::uint16},
    {"|u1", DType::uint8},
    {"|b1", DType::boolean},
}};

std::optional<DType> dtype_of(const std::string& descr) {
  for (const auto& [name, dtype] : kTypes)
    if (name == descr) return dtype;
  return std::nullopt;
}

std::string_view descr_of(DType dtype) {
  for (const auto& [name, known] : kTypes)
    if (known == dtype) return name;
  throw ExecError("NumPy has no elements of type " + graph::dtype_name(dtype), "outputs", "");
}

/// What follows 'key': in the header's dictionary.
std::string_view field(std::string_view header, std::string_view key) {
  const std::size_t at = header.find("'" + std::string(key) + "':");
  if (at == std::string_view::npos) return "";
  header.remove_prefix(at + key.size() + 3);
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

/// The elements of an array whose first axis runs fastest, in the order in which its last one does.
std::vector<std::byte> by_rows(std::span<const std::byte> columns, const std::vector<std::int64_t>& dims,
                               std::size_t element) {
  std::vector<std::byte> rows;
  rows.reserve(columns.size());
  std::vector<std::int64_t> at(dims.size(), 0);
  while (rows.size() < columns.size()) {
    std::int64_t place = 0;
    for (std::size_t axis = dims.size(); axis-- > 0;) place = place * dims[axis] + at[axis];
    const auto from = columns.subspan(static_cast<std::size_t>(place) * element, element);
    rows.insert(rows.end(), from.begin(), from.end());
    for (std::size_t axis = dims.size(); axis-- > 0 && ++at[axis] == dims[axis];) at[axis] = 0;
  }
  return rows;
}

/// An array of NumPy's own format, versions 1 to 3.
Tensor parse_npy(const Archive& archive, const std::string& bytes, const std::string& name) {
  const bool long_header = bytes.size() > 12 && bytes[6] >= 2;
  if (bytes.size() < 12 || bytes.compare(0, 6, "\x93NUMPY") != 0)
    archive.damaged("'" + name + "' is no array");
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 8, long_header ? 4 : 2);
  const std::size_t begin = (long_header ? 12u : 10u) + std::size_t{length};
  if (begin > bytes.size()) archive.damaged("'" + name + "' is truncated");
  const std::string_view header(bytes.data() + (long_header ? 12 : 10), length);
  const std::string_view descr = field(header, "descr"), shape = field(header, "shape");
  const auto dtype = descr.size() > 4 ? dtype_of(std::string(descr.substr(1, 3))) : std::nullopt;
  if (!dtype) archive.damaged("array '" + name + "' has an element type that is not supported");
  Tensor tensor{*dtype, {}, {}, {}};
  std::size_t count = 1;
  for (std::size_t at = 1; at < shape.size() && shape[at] != ')';) {
    std::int64_t dim = 0;
    const auto [end, problem] = std::from_chars(shape.data() + at, shape.data() + shape.size(), dim);
    if (problem != std::errc() || dim < 0) archive.damaged("array '" + name + "' has no shape");
    tensor.dims.push_back(dim);
    if (__builtin_mul_overflow(count, static_cast<std::size_t>(dim), &count))
      archive.damaged("array '" + name + "' is too large");
    at = static_cast<std::size_t>(end - shape.data());
    while (at < shape.size() && (shape[at] == ',' || shape[at] == ' ')) ++at;
  }
  const std::size_t element = graph::dtype_bytes(*dtype);
  if ((bytes.size() - begin) / element != count || (bytes.size() - begin) % element != 0)
    archive.damaged("array '" + name + "' is truncated");
  const auto raw = std::as_bytes(std::span(bytes)).subspan(begin);
  if (field(header, "fortran_order").starts_with("True"))
    tensor.bytes = by_rows(raw, tensor.dims, element);
  else
    tensor.bytes.assign(raw.begin(), raw.end());
  return tensor;
}

/// Adds the numbers to `out`, each by its own type.
template <typename... Numbers>
void append(std::string& out, Numbers... numbers) {
  (out.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
}

/// Version 1 of NumPy's own format.
std::string npy_of(const Tensor& tensor) {
  std::string header =
      "{'descr': '" + std::string(descr_of(tensor.dtype)) + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t dim : tensor.dims) header += std::to_string(dim) + ", ";
  header += "), }";
  header.resize(
      (header.size() + kNpyHeadBytes + kNpyAlignment) / kNpyAlignment * kNpyAlignment - kNpyHeadBytes - 1,
      ' ');
  std::string out("\x93NUMPY\x01\x00", 8);
  append(out, static_cast<std::uint16_t>(header.size() + 1));
  out += header + "\n";
  return out.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
}

}  // namespace

void write_npz(const fs::path& path, const std::vector<Tensor>& tensors) {
  std::string out, directory;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string contents = npy_of(tensors[i]), name = "arr_" + std::to_string(i) + ".npy";
    const auto size = static_cast<std::uint32_t>(contents.size());
    const auto offset = static_cast<std::uint32_t>(out.size());
    std::string common;  // to both headers: versions, method, time, sum, sizes
    append(common, kZipVersion, std::uint16_t{0}, kStored, std::uint16_t{0}, kZipDate, crc32_of_zip(contents),
           size, size, static_cast<std::uint16_t>(name.size()), std::uint16_t{0});
    append(out, kMemberSignature);
    out += common + name + contents;
    append(directory, kDirectorySignature, kZipVersion);
    directory += common;
    append(directory, std::uint16_t{0}, std::uint16_t{0}, std::uint16_t{0}, std::uint32_t{0}, offset);
    directory += name;
  }
  const auto begin = static_cast<std::uint32_t>(out.size());
  const auto count = static_cast<std::uint16_t>(tensors.size());
  out += directory;
  append(out, kEndSignature, std::uint16_t{0}, std::uint16_t{0}, count, count,
         static_cast<std::uint32_t>(directory.size()), begin, std::uint16_t{0});
  write_file_atomic(path, out);
}

std::map<std::string, Tensor> read_npz(const fs::path& path) {
  const Archive archive(path);
  std::map<std::string, Tensor> tensors;
  for (const Member& member : archive.members()) {
    const std::string name =
        member.name.ends_with(".npy") ? member.name.substr(0, member.name.size() - 4) : member.name;
    tensors[name] = parse_npy(archive, archive.contents(member), name);
  }
  return tensors;
}

}
