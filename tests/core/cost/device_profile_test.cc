#include "core/cost/device_profile.h"

#include <gmock/gmock.h>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/cost/cost_error.h"
#include "core/cost/fused_patterns.h"

namespace regraft::cost {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string shipped() {
  return read_file(std::string(REGRAFT_SOURCE_DIR) + "/configs/devices/cpu-1core.toml");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) {
  try {
    parse_device(text, "d.toml");
  } catch (const CostError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Device, ShippedProfileLoads) {
  const DeviceProfile device = parse_device(shipped(), "cpu-1core.toml");
  EXPECT_EQ(device.name, "cpu-1core");
  EXPECT_EQ(device.channel_block, 16);
  EXPECT_GT(device.elementwise_ns[static_cast<std::size_t>(graph::OpKind::erf)],
            device.elementwise_ns[static_cast<std::size_t>(graph::OpKind::add)]);
}

TEST(Device, AGpuHasNoBlockedLayoutAndDearLaunches) {
  const std::string configs = std::string(REGRAFT_SOURCE_DIR) + "/configs/devices/";
  const DeviceProfile gpu = load_device(configs + "h200.toml"),
                      core = load_device(configs + "cpu-1core.toml");
  EXPECT_EQ(gpu.channel_block, 1);
  EXPECT_GT(gpu.launch_us, core.launch_us);
  EXPECT_LT(gpu.far_ns_per_byte, core.far_ns_per_byte);
  EXPECT_NE(gpu.fusions, nullptr);
}

TEST(Device, AnUnknownKeyIsRefusedWithTheNearest) {
  const std::string text = replaced(shipped(), "launch_us", "launch_time = 3\nlaunch_us");
  EXPECT_THAT(error_of(text),
              AllOf(HasSubstr("d.toml:"), HasSubstr("kernel.launch_time"), HasSubstr("kernel.launch_us")));
  EXPECT_THAT(error_of("gflops = 3\n" + shipped()), HasSubstr("unknown key gflops"));
}

TEST(Device, AMissingKeyIsNamed) {
  EXPECT_THAT(
      error_of(replaced(shipped(), "window_ns", "# window_ns")),
      AllOf(HasSubstr("d.toml"), HasSubstr("conv.window_ns is missing"), HasSubstr("a number, 0 to 10000")));
  EXPECT_THAT(error_of(replaced(shipped(), "name =", "# name =")), HasSubstr("name is missing"));
  EXPECT_THAT(error_of(replaced(shipped(), "runtime =", "# runtime =")), HasSubstr("runtime is missing"));
  EXPECT_THAT(error_of(replaced(shipped(), "[elementwise]\ndefault", "[elementwise]\nRelu")),
              HasSubstr("elementwise.default is missing"));
  EXPECT_THAT(error_of(replaced(shipped(), "[opaque]\ndefault", "[opaque]\nCelu_ = 1 #")),
              HasSubstr("opaque.default is missing"));
}

TEST(Device, AValueOutOfRangeOrOfAnotherTypeIsRefused) {
  EXPECT_THAT(error_of(replaced(shipped(), "spill_ns = 0.2", "spill_ns = -1")),
              AllOf(HasSubstr("memory.spill_ns = -1"), HasSubstr("0 to 10000")));
  EXPECT_THAT(error_of(replaced(shipped(), "spill_ns = 0.2", "spill_ns = \"fast\"")),
              HasSubstr("memory.spill_ns"));
  EXPECT_THAT(error_of(replaced(shipped(), "spill_ns = 0.2", "spill_ns = true")),
              HasSubstr("memory.spill_ns"));
  EXPECT_THAT(error_of(replaced(shipped(), "spill_ns = 0.2", "spill_ns = nan")),
              HasSubstr("memory.spill_ns"));
}

TEST(Device, CachesMustBeInOrder) {
  EXPECT_THAT(error_of(replaced(shipped(), "streamed_bytes = 24_000_000", "streamed_bytes = 1_000_000")),
              HasSubstr("streamed_bytes is not larger"));
}

TEST(Device, OnlyElementwiseOpsHaveAnElementwiseTime) {
  EXPECT_THAT(error_of(shipped() + "\nMatMul = 1\n"), HasSubstr("elementwise.MatMul is no elementwise op"));
  EXPECT_THAT(error_of(shipped() + "\nRelo = 1\n"), HasSubstr("elementwise.Relo is no elementwise op"));
}

TEST(Device, OpsThatAreLeftAloneHaveATimeOfTheirWork) {
  const auto with = [](const std::string& line) {
    return replaced(shipped(), "[opaque]\n", "[opaque]\n" + line + "\n");
  };
  EXPECT_EQ(parse_device(with("RoiAlign = 3.5"), "d.toml").opaque_ns.at("RoiAlign"), 3.5);
  EXPECT_THAT(error_of(with("RoiAlgin = 3.5")),
              AllOf(HasSubstr("d.toml:"), HasSubstr("opaque.RoiAlgin is no op"), HasSubstr("'RoiAlign'")));
  EXPECT_THAT(error_of(with("Relu = 1")), HasSubstr("opaque.Relu is no op")) << "it stands in elementwise";
  EXPECT_THAT(error_of(with("RoiAlign = -1")), HasSubstr("opaque.RoiAlign = -1"));
}

TEST(Device, BrokenTomlNamesTheLine) {
  EXPECT_THAT(error_of("name = \n"), HasSubstr("d.toml:1"));
  EXPECT_THROW(load_device("/nonexistent/d.toml"), FileError);
}

TEST(Device, WhatItsRuntimeFusesIsReadToo) {
  const TempDir folder;
  write_file_atomic(folder.path() / "d.toml", shipped());
  EXPECT_GT(load_device(folder.path() / "d.toml").fusions->patterns().size(), 0u);
  write_file_atomic(folder.path() / "d.toml", replaced(shipped(), "\"onnxruntime\"", "\"oonxruntime\""));
  EXPECT_THAT([&] { load_device(folder.path() / "d.toml"); },
              ::testing::ThrowsMessage<FileError>(HasSubstr("configs/runtimes/oonxruntime.fusions")));
}

}  // namespace
}
