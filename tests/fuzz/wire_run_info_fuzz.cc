// Any text as a run file and as the URL of a run: an Error or what reads back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/wire/run_info.h"
#include "core/wire/run_url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using regraft::wire::RunInfo;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const RunInfo info = RunInfo::from_json(text, "fuzz");
    if (RunInfo::from_json(info.to_json(), "printed") != info) std::abort();
  } catch (const regraft::Error&) {
  }
  try {
    const RunInfo info = RunInfo::from_url(text);
    if (RunInfo::from_url(regraft::wire::testing_support::url_of(info)) != info) std::abort();
  } catch (const regraft::Error&) {
  }
  return 0;
}
