#include "launch/output_check.h"

#include <gtest/gtest-spi.h>

#include "core/exec/tiny_models.h"

namespace regraft::launch {
namespace {

using testing::check_output;

class OutputCheck : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!regraft::testing::onnx_complaints(REGRAFT_ONNX_PREFIX, {}))
      GTEST_SKIP() << "no ONNX for Python in " REGRAFT_ONNX_PREFIX ": run launch/setup.sh";
  }
  /// A Relu of a value, of which only "x" is there.
  std::string relu(const std::string& of, const std::string& file) const {
    exec::testing::ModelBuilder builder;
    builder.input("x", {"n", 4}).output("y", {"n", 4}).node("Relu", {of}, {"y"});
    return builder.write(dir_.path() / file).string();
  }
  static constexpr const char* kComplaint = "ONNX's check of the output";
  TempDir dir_;
  const std::string good_ = relu("x", "good.onnx"), bad_ = relu("z", "bad.onnx"),
                    worse_ = relu("w", "worse.onnx");
};

TEST_F(OutputCheck, SeesWhatOnnxDoesNotTake) {
  check_output({"optimise", bad_, "-o", good_}, {});
  EXPECT_NONFATAL_FAILURE(check_output({"optimise", good_, "-o", bad_}, {}), kComplaint);
  EXPECT_NONFATAL_FAILURE(check_output({"optimise", good_, "--output=" + bad_}, {}), kComplaint);
  EXPECT_NONFATAL_FAILURE(check_output({"optimise", bad_, "-o", bad_}, {}), kComplaint);
  const Captured written{{}, read_file(bad_), "", false};
  EXPECT_NONFATAL_FAILURE(check_output({"optimise", good_, "-o", "-"}, written), kComplaint);
}

TEST_F(OutputCheck, AsksNothingOfInputsThatDoNotPassEither) {
  check_output({"optimise", bad_, "-o", worse_}, {});
  check_output({"verify", good_, bad_}, {});
  check_output({"optimise", good_, "-o", bad_}, {{1, 0, 0}, "", "", false});
  check_output({"optimise", good_, "-o", "/dev/null"}, {});
}

}  // namespace
}
