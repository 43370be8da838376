#include "core/base/inflate.h"

#include <zlib.h>

#include "core/base/error.h"

namespace regraft {
namespace {

constexpr int kRawFormat = -MAX_WBITS;       // zlib.h, inflateInit2
constexpr std::size_t kLargestRatio = 1100;  // deflate compresses no better

}  // namespace

std::optional<std::string> inflate(std::string_view packed, std::size_t bytes) {
  if (bytes / kLargestRatio > packed.size()) return std::nullopt;
  std::string out(bytes, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, kRawFormat) != Z_OK) throw Error("cannot start", "zlib", "free some memory");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = ::inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (result != Z_STREAM_END || stream.avail_in != 0 || stream.avail_out != 0) return std::nullopt;
  return out;
}

std::uint32_t crc32_of_zip(std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}
