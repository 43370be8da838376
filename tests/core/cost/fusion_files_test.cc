#include "core/cost/fusion_files.h"

#include <gmock/gmock.h>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/cost/device_profile.h"

namespace regraft::cost {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kRuntimes = std::filesystem::path(REGRAFT_SOURCE_DIR) / "configs/runtimes";

/// A folder of such files, and what is found in it.
class Folder {
 public:
  explicit Folder(const std::vector<std::string>& files) {
    for (const std::string& file : files) write_file_atomic(folder_.path() / file, "");
  }
  std::string found(const std::string& version) const {
    const FusionFile file = find_fusions(folder_.path(), "ort", version);
    return file.path.filename().string() + " " + file.version;
  }

 private:
  TempDir folder_;
};

TEST(FusionFiles, AVersionHasItsOwnOrTheNearest) {
  const Folder folder(
      {"ort-1.9.fusions", "ort-1.31.fusions", "ort-1.35.fusions", "ort-cuda-1.33.fusions", "ort-1.33.txt"});
  EXPECT_EQ(folder.found("1.31.1"), "ort-1.31.fusions 1.31");
  EXPECT_EQ(folder.found("1.32.0"), "ort-1.31.fusions 1.31");
  EXPECT_EQ(folder.found("1.33"), "ort-1.31.fusions 1.31") << "the older of two equally near";
  EXPECT_EQ(folder.found("1.34"), "ort-1.35.fusions 1.35");
  EXPECT_EQ(folder.found("1.10"), "ort-1.9.fusions 1.9") << "numbers, not texts";
  EXPECT_EQ(folder.found("2.0"), "ort-1.35.fusions 1.35");
  EXPECT_EQ(folder.found(""), "ort-1.35.fusions 1.35") << "the newest";
  EXPECT_EQ(folder.found("nightly"), "ort-1.35.fusions 1.35");
}

TEST(FusionFiles, AFileMayBeOfAllVersions) {
  const Folder folder({"ort.fusions", "ort-1.31.fusions"});
  EXPECT_EQ(folder.found("1.31.1"), "ort-1.31.fusions 1.31");
  EXPECT_EQ(folder.found("1.32.0"), "ort.fusions ");
  EXPECT_EQ(Folder({}).found("1.31"), "ort.fusions ") << "which is then missed";
}

TEST(FusionFiles, AnotherVersionIsWarnedOfWithItsAgreement) {
  EXPECT_EQ(fusions_warning("1.31", "1.31.1", 0.5), "");
  EXPECT_EQ(fusions_warning("", "1.31.1", 0.5), "");
  const std::string warning = fusions_warning("1.31", "1.32.0", 0.9321);
  for (const char* part : {"1.32.0", "1.31 ", "93.2 %"}) EXPECT_THAT(warning, HasSubstr(part));
  EXPECT_NE(fusions_warning("1.31", "1.3.0", 0.5), "");
  EXPECT_NE(fusions_warning("1.31", "2.31.0", 0.5), "");
}

TEST(FusionFiles, ADeviceKnowsWhoseFusionsItHas) {
  const std::filesystem::path device = kRuntimes.parent_path() / "devices/cpu-1core.toml";
  const std::string shipped = load_device(device).fusions_version;
  EXPECT_EQ(shipped, find_fusions(kRuntimes, "onnxruntime", "").version);
  EXPECT_NE(shipped, "");
  EXPECT_EQ(load_device(device, "9.9.9").fusions_version, shipped);
}

}  // namespace
}
