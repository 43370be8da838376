#include "core/base/gzip.h"

#include <zlib.h>

#include <cstdint>
#include <cstring>

#include "core/base/error.h"

namespace regraft {
namespace {

constexpr int kGzipFormat = MAX_WBITS + 16, kRawFormat = -MAX_WBITS;  // zlib.h, deflateInit2
constexpr int kMostMemory = 9;
constexpr std::size_t kTrailerBytes = 8;     // CRC-32, then the size
constexpr std::size_t kLargestRatio = 1100;  // deflate compresses no better

void feed(z_stream& stream, std::string_view in, std::string& out) {
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
}

std::optional<std::string> unpack(std::string_view packed, std::size_t bytes, int format) {
  if (bytes / kLargestRatio > packed.size()) return std::nullopt;
  std::string out(bytes, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, format) != Z_OK) throw Error("cannot start", "zlib", "free some memory");
  feed(stream, packed, out);
  const int result = ::inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (result != Z_STREAM_END || stream.avail_in != 0 || stream.avail_out != 0) return std::nullopt;
  return out;
}

}  // namespace

std::string gzip(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipFormat, kMostMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw Error("cannot start", "zlib", "free some memory");
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  feed(stream, text, out);
  deflate(&stream, Z_FINISH);  // deflateBound: it fits
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::optional<std::string> gunzip(std::string_view packed) {
  if (packed.size() < kTrailerBytes) return std::nullopt;
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, packed.data() + packed.size() - sizeof bytes, sizeof bytes);
  return unpack(packed, bytes, kGzipFormat);
}

std::optional<std::string> inflate(std::string_view packed, std::size_t bytes) {
  return unpack(packed, bytes, kRawFormat);
}

std::uint32_t crc32_of_zip(std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace regraft
