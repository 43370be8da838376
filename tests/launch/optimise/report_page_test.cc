// `regraft optimise --report`: the page for people.
#include "launch/optimise/report_page.h"

#include <gmock/gmock.h>

#include "core/base/file.h"
#include "core/exec/tiny_models.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::run;

TEST(ReportPage, ShowsTheReportTrialsAndKernelsWithTextEscaped) {
  OptimiseReport report;
  report.reason = "1 < 2 & \"3\"";
  report.points.push_back({{{"n", 4}}, 20, 10, 1.9, 1.8, 2.0, 0.02, 0.01});
  report.changes.kept.push_back({{{"add-out", 2}}, {0.9, 0.8, 0.95}});
  ReportPage page;
  cost::KernelSample sample;
  sample.features.kind = graph::OpKind::relu;
  sample.measured_us = 12.5;
  const std::vector<cost::KernelSample> samples{sample, sample};
  page.note_kernels(samples, false);
  const std::string html = page.html("a<b>.onnx", report);
  EXPECT_THAT(html, AllOf(HasSubstr("<h1>a&lt;b&gt;.onnx</h1>"), HasSubstr("1 &lt; 2 &amp; &quot;3&quot;"),
                          HasSubstr("<td>1.900 [1.800, 2.000]</td>"),
                          HasSubstr("<td>2 x add-out</td><td>kept: not faster without</td>"),
                          HasSubstr("<td>Relu float32</td><td>2</td><td>25.0</td><td>0</td>"),
                          Not(HasSubstr("<svg"))));
}

class PageOfAModel : public ::testing::Test {
 protected:
  Captured optimise(const std::string& page) const {
    exec::testing::ModelBuilder builder;
    builder.input("x", {8, 8}).output("y", {8, 8});
    builder.node("Relu", {"x"}, {"a"});
    builder.node("Transpose", {"a"}, {"b"});
    builder.node("Tanh", {"b"}, {"c"});
    builder.node("Transpose", {"c"}, {"d"});
    builder.node("Neg", {"d"}, {"y"});
    const std::string model = builder.write(dir_.path() / "in.onnx").string();
    return run({"optimise", model, "-o", (dir_.path() / "out.onnx").string(), "--accept", "cost", "--report",
                page, "--budget", "2", "--threads", "1"});
  }

  TempDir dir_;
};

TEST_F(PageOfAModel, HasRulesKernelsOfBothSidesAndPicturesOfWhatChanged) {
  const std::filesystem::path page = dir_.path() / "page.html";
  const Captured result = optimise(page.string());
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const std::string html = read_file(page);
  EXPECT_THAT(html, AllOf(HasSubstr("<h1>in.onnx</h1>"), HasSubstr("Rewrites that were found"),
                          HasSubstr(">Transpose</text>"), HasSubstr(">float32[8, 8]</text>"),
                          HasSubstr("<td>Transpose float32</td><td>2</td>"),
                          ContainsRegex("<td>Tanh float32</td><td>1</td><td>[0-9.]+</td><td>1</td>"),
                          HasSubstr("</html>")));
}

TEST_F(PageOfAModel, IsAnOutputAsOthersAre) {
  const Captured nowhere = optimise((dir_.path() / "no" / "page.html").string());
  EXPECT_EQ(nowhere.status.code, 1);
  EXPECT_THAT(nowhere.errors, HasSubstr("page.html"));
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "out.onnx"));
  const Captured twice = optimise((dir_.path() / "out.onnx").string());
  EXPECT_EQ(twice.status.code, 2) << twice.errors;
}

}  // namespace
}
