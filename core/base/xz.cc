#include "core/base/xz.h"

#include <lzma.h>

#include <algorithm>
#include <cstdint>

#include "core/base/error.h"

namespace regraft {
namespace {

constexpr std::uint32_t kPreset = 6 | LZMA_PRESET_EXTREME;
constexpr std::uint64_t kMostMemoryBytes = std::uint64_t{80} << 20;  // what `xz -9` packed takes 65 MiB
constexpr std::size_t kFirstBytes = std::size_t{1} << 16;

const std::uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

}  // namespace

std::string xz(std::string_view text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  lzma_options_lzma how{};
  lzma_lzma_preset(&how, kPreset);
  how.lc = 2;
  how.pb = 0;  // bytes, not words: text is smaller so
  how.nice_len = 273;
  lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &how}, {LZMA_VLI_UNKNOWN, nullptr}};
  if (lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC64, nullptr, bytes_of(text), text.size(),
                                reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()) != LZMA_OK)
    throw Error("cannot pack", "liblzma", "free some memory");
  out.resize(size);
  return out;
}

std::optional<std::string> unxz(std::string_view packed, std::size_t most_bytes) {
  // How much it holds is not known before: what does not fit is unpacked anew into more.
  for (std::size_t room = std::min(kFirstBytes, most_bytes);; room = std::min(4 * room, most_bytes)) {
    std::string out(room, '\0');
    std::uint64_t memory_bytes = kMostMemoryBytes;
    std::size_t read = 0, size = 0;
    const lzma_ret result =
        lzma_stream_buffer_decode(&memory_bytes, 0, nullptr, bytes_of(packed), &read, packed.size(),
                                  reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size());
    if (result == LZMA_MEM_ERROR) throw Error("cannot unpack", "liblzma", "free some memory");
    if (result == LZMA_BUF_ERROR && room < most_bytes) continue;
    if (result != LZMA_OK || read != packed.size()) return std::nullopt;
    out.resize(size);
    return out;
  }
}

}
