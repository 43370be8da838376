// Any text as a TOML config and as a --set argument: a ConfigError or a config whose printed form reads back
// the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using regraft::Option;
  static const regraft::OptionTable table({
      Option("seed", 0, regraft::at_least(0).formerly("sed"), ""),
      Option("ppo.learning_rate", 3e-4, regraft::between(0, 1), ""),
      Option("ppo.anneal", true, regraft::any(), ""),
      Option("search.kind", "greedy", regraft::any(), ""),
      Option("run.models", regraft::TextList{"a"}, regraft::any(), ""),
  });
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  regraft::Config config(table), again(table);
  try {
    config.merge_toml(text, "fuzz");
  } catch (const regraft::ConfigError&) {
  }
  try {
    config.set(text);
  } catch (const regraft::ConfigError&) {
  }
  again.merge_toml(config.to_toml(), "printed");
  if (!regraft::differences(config, again).empty()) std::abort();
  return 0;
}
