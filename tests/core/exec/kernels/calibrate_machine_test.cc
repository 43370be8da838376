#include "core/exec/kernels/calibrate_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/exec/runtime/ort_session.h"
#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using ::testing::HasSubstr;
using testing::TempFolder;

const std::string kConfigs = std::string(REGRAFT_SOURCE_DIR) + "/configs/devices/";

TEST(KernelGrid, CombinesAllSizes) {
  const auto kernels =
      parse_kernel_grid("# sizes\n\nMatMul x[1,M,K] W[K,8] | M=1,2 K=3,4  # four\nRelu x[5]\n", "grid");
  ASSERT_EQ(kernels.size(), 5u);
  EXPECT_EQ(kernels[0].text(), "MatMul [1,1,3] const[3,8]");
  EXPECT_EQ(kernels[3].text(), "MatMul [1,2,4] const[4,8]");
  EXPECT_EQ(kernels[4].text(), "Relu [5]");
}

TEST(KernelGrid, AttributesMayBeSizes) {
  const auto kernels = parse_kernel_grid("Conv x[1,C,8,8] W[C,1,3,3] group=C pads=1,1,1,1 | C=16", "grid");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].attributes[0].second, std::vector<std::int64_t>{16});
  EXPECT_EQ(kernels[0].attributes[1].second.size(), 4u);
}

TEST(KernelGrid, WhatIsNoKernelIsRefusedByItsLine) {
  for (const char* text :
       {"Relu", "\nRelu x[M]", "Relu x[0]", "Relu x", "Relu x[2", "Relu x[2] | M", "Relu x[2] =3",
        "Relu x[2] | M=", "Relu x[-1]", "Relu x[9999999999999999999999]"}) {
    try {
      parse_kernel_grid(text, "my.kernels");
      ADD_FAILURE() << text;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.where(), HasSubstr("my.kernels:" + std::string(text[0] == '\n' ? "2" : "1"))) << text;
    }
  }
}

TEST(KernelGrid, AModelTakesNoMoreThanItsBytes) {
  const TempFolder folder;
  const auto kernels = parse_kernel_grid("MatMul x[1,M,64] W[64,64] | M=1,2,3,4,5", "grid");
  const double one = 64 * 64 * 4 + 5 * 64 * 4;
  EXPECT_EQ(write_kernels(kernels, 0, 2 * one, folder / "two.onnx"), 2u);
  EXPECT_EQ(OrtSession(folder / "two.onnx").outputs().size(), 2u);
  EXPECT_EQ(write_kernels(kernels, 4, 1, folder / "one.onnx"), 5u) << "at least one";
}

/// A clock that moves by a second each time somebody looks.
class SteppingClock final : public Clock {
 public:
  std::int64_t steady_ns() const override { return now_ += 1'000'000'000; }
  std::int64_t wall_ns() const override { return now_; }

 private:
  mutable std::int64_t now_ = 0;
};

TEST(MachineCalibration, MeasuresWhatIsMissingAndEndsInTime) {
  const TempFolder folder;
  cost::KernelDatabase database(folder / "kernels.sqlite");
  const auto grid =
      parse_kernel_grid("MatMul x[1,M,64] W[64,64] | M=1,8,64\nSoftmax x[8,64]\nErf x[512]", "grid");
  const cost::DeviceProfile device = cost::load_device(kConfigs + "cpu-1core.toml");
  const SteppingClock clock;
  std::size_t measured = 0;
  double most_other_load = -1;  // any machine is too busy
  const auto calibrate = [&](double seconds) {
    measured = 0;
    return calibrate_machine(
        grid, device, "here", database,
        {.budget_s = seconds, .kernel_s = 0.01, .most_model_bytes = 1, .most_other_load = most_other_load},
        clock, [&](std::size_t done) { measured = done; });
  };
  const CalibrationResult busy = calibrate(100);
  EXPECT_EQ(busy.disturbed, 5u);
  EXPECT_TRUE(busy.samples.empty()) << "what other work disturbed is not kept";
  most_other_load = std::numeric_limits<double>::infinity();
  EXPECT_EQ(calibrate(3.5).samples.size(), 3u) << "a second a kernel";
  EXPECT_EQ(measured, 3u);
  const auto all = calibrate(100).samples;
  EXPECT_EQ(all.size(), 5u);
  for (const cost::KernelSample& sample : all)
    EXPECT_GT(sample.measured_us, 0) << sample.features.kernel_kind();
  const double before = all[0].measured_us;
  EXPECT_EQ(calibrate(100).samples[0].measured_us, before) << "nothing is measured twice";
}

TEST(MachineCalibration, TheShippedGridCanBeRead) {
  EXPECT_GT(parse_kernel_grid(read_file(kConfigs + "calibration.kernels"), "calibration.kernels").size(),
            400u);
}

TEST(FitByKind, ErrorsAreThoseOfKernelsThatWereNotSeen) {
  const auto at = [](std::int64_t elements, double measured_us) {
    return cost::KernelSample{{graph::OpKind::erf,
                               cost::KernelForm::plain,
                               graph::DType::float32,
                               {0, elements, elements, 0, elements, elements}},
                              100,
                              measured_us};
  };
  const std::vector<cost::KernelSample> samples{at(1000, 200), at(1100, 200), at(1200, 200), at(1300, 200)};
  const std::vector<KernelKindFit> fits = fit_by_kind(samples);
  ASSERT_EQ(fits.size(), 1u);
  EXPECT_EQ(fits[0].kernels, 4u);
  EXPECT_NEAR(fits[0].factor, 2, 1e-9);
  EXPECT_NEAR(fits[0].rates_error, 1, 1e-9);
  EXPECT_LT(fits[0].learned_error, 0.01);
}

}  // namespace
}
