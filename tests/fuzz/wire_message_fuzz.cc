// Any bytes as the header of a message: a WireError or a message that encodes to exactly these bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "core/wire/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const auto again = regraft::wire::encode(regraft::wire::decode(bytes));
    if (!std::equal(again.begin(), again.end(), bytes.begin(), bytes.end())) std::abort();
  } catch (const regraft::wire::WireError& error) {
    if (error.fault() != regraft::wire::WireFault::kMalformed) std::abort();
  }
  return 0;
}
