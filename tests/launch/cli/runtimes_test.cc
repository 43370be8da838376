// Models measured in another runtime than ONNX Runtime: small adapters of these tests, and OpenVINO where it
// is.
#include <gmock/gmock.h>

#include "core/base/atomic_file.h"
#include "core/exec/tiny_models.h"
#include "launch/runtimes_fixture.h"
#include "support/models.h"

namespace regraft::launch {
namespace {

using testing::adapter;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::json_of;
using ::testing::Not;
using testing::RuntimesTest;

TEST_F(RuntimesTest, BenchMeasuresInTheRuntimeOfAnAdapter) {
  std::filesystem::copy_file(model(), path("other.onnx"));
  const Captured result = bench(runtime(adapter("8", "4")), {path("other.onnx")});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("measured in seven 7.1\n"));
  const nlohmann::json report = json_of(path("report.json"));
  EXPECT_EQ(report.at("runtime"), "seven");
  EXPECT_EQ(report.at("runtime_version"), "7.1");
  EXPECT_NEAR(report.at("speedup"), 2, 0.2);
}

TEST_F(RuntimesTest, OnAGpuTimesAreByTheClock) {
  std::string source = adapter("8", "4");
  source.replace(source.find("            pass"), 16, "            time.sleep(0.001)");
  for (std::size_t at; (at = source.find("process_time()")) != std::string::npos;)
    source.replace(at, 14, "perf_counter()");
  std::filesystem::copy_file(model(), path("other.onnx"));
  ASSERT_EQ(bench(runtime(source, "seven-cuda"), {path("other.onnx")}).status.code, 0);
  EXPECT_GT(json_of(path("report.json")).at("latency_before_ms"), 7.9);
  ASSERT_EQ(bench(runtime(source), {path("other.onnx")}).status.code, 0);
  EXPECT_LT(json_of(path("report.json")).at("latency_before_ms"), 4)
      << "a run that sleeps takes no processor";
}

TEST_F(RuntimesTest, OnnxRuntimeOnAGpuSaysWhatItLacks) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "there may be a GPU";
  const std::string missing = bench("onnxruntime-cuda").errors;
  EXPECT_THAT(missing, HasSubstr("onnxruntime-cuda is not installed for /usr/bin/python3"));
  EXPECT_THAT(missing, HasSubstr("pip install 'onnxruntime-gpu[cuda,cudnn]'"));
  std::filesystem::create_directory(path("packages"));
  write_file_atomic(path("packages/onnxruntime.py"),
                    "__version__ = '1'\nget_available_providers = lambda: ['CPUExecutionProvider']\n");
  EXPECT_THAT(run({"bench", model(), "--runtime", "onnxruntime-cuda"}, path("packages")).errors,
              HasSubstr("this onnxruntime finds no CUDA that it can use: pip uninstall onnxruntime; pip"));
}

TEST_F(RuntimesTest, ErrorsSayWhatIsWrongWithARuntime) {
  const Captured unknown = bench("openvin");
  EXPECT_EQ(unknown.status.code, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("'openvin' is not known (did you mean 'openvino'?)"));
  const auto errors = [&](const std::string& source) {
    const Captured result = bench(runtime(source));
    EXPECT_EQ(result.status.code, 1);
    return result.errors;
  };
  EXPECT_THAT(
      errors("import no_such_package"),
      AllOf(HasSubstr("seven is not installed for /usr/bin/python3: No module named 'no_such_package' "
                      "(pip install no_such_package"),
            Not(HasSubstr("Traceback"))));
  EXPECT_THAT(
      errors("version = str\ndef load(model, inputs, threads):\n    raise ValueError('Loop\\n is new')"),
      AllOf(HasSubstr("in.onnx: seven cannot run it: Loop is new"), Not(HasSubstr("Traceback"))));
  EXPECT_THAT(errors("raise ValueError('no such chip')"),
              AllOf(HasSubstr("seven: no such chip"), Not(HasSubstr("Traceback"))));
  EXPECT_THAT(errors("version = str"),
              HasSubstr("seven.py has no function load (launch/docs/adding-a-runtime.md"));
  const Captured missing = bench(path("missing.py"));
  EXPECT_EQ(missing.status.code, 2);
  EXPECT_THAT(missing.errors, HasSubstr("there is no file"));
  EXPECT_THAT(errors("import os\nversion = str\ndef load(model, inputs, threads):\n    os.abort()"),
              HasSubstr("measuring in seven was killed by signal 6"));
  const Captured limited = bench(runtime(adapter("1", "1")), {"--other-optimisation", "none"});
  EXPECT_EQ(limited.status.code, 2);
  EXPECT_THAT(limited.errors, HasSubstr("--other-optimisation: only ONNX Runtime's own"));
  const Captured unmeasured =
      run({"optimise", model(), "-o", path("o.onnx"), "--accept", "cost", "--runtime", "openvino"});
  EXPECT_EQ(unmeasured.status.code, 2);
  EXPECT_THAT(unmeasured.errors, HasSubstr("--runtime: nothing is measured with --accept cost"));
}

TEST_F(RuntimesTest, ResultsAreAcceptedByWhatTheyTakeThere) {
  const Captured faster = run(optimise(runtime(adapter("8", "4"))));
  ASSERT_EQ(faster.status.code, 0) << faster.errors;
  EXPECT_THAT(faster.output, HasSubstr("runtime   seven 7.1: 8."));
  const nlohmann::json report = json_of(path("report.json"));
  EXPECT_TRUE(report.at("accepted")) << report.at("reason");
  EXPECT_NEAR(report.at("speedup"), 2, 0.2);
  EXPECT_EQ(report.at("runtime"), "seven");
  ASSERT_EQ(report.at("runtimes").size(), 1u);
  EXPECT_NEAR(report.at("runtimes")[0].at("latency_before_ms"), 8, 1);
  EXPECT_NEAR(report.at("runtimes")[0].at("latency_after_ms"), 4, 1);

  ASSERT_EQ(run(optimise(runtime(adapter("4", "8")))).status.code, 0);
  const nlohmann::json slower = json_of(path("report.json"));
  EXPECT_FALSE(slower.at("accepted"));
  EXPECT_LT(slower.at("speedup"), 1);
  EXPECT_TRUE(slower.at("runtimes")[0].at("latency_after_ms").is_null());
  EXPECT_EQ(read_file(path("out.onnx")), read_file(path("in.onnx")));
}

TEST_F(RuntimesTest, AResultThatItsDeviceCannotRunIsNotEmittedNorAnythingWhereItIsGone) {
  const std::string source = adapter("4", "4") + R"(
load_any = load

def load(model, inputs, threads):
    if os.path.basename(model) == "out.onnx":
        open(__file__ + ".gone", "w")
    if os.path.exists(__file__ + ".gone"):
        raise ValueError("no such device")
    return load_any(model, inputs, threads)
)";
  ASSERT_EQ(run(optimise(runtime(source))).status.code, 0);
  const nlohmann::json report = json_of(path("report.json"));
  EXPECT_FALSE(report.at("accepted"));
  EXPECT_THAT(report.at("reason").get<std::string>(), HasSubstr("seven cannot run it: no such device"));
  EXPECT_EQ(read_file(path("out.onnx")), read_file(path("in.onnx")));
  std::filesystem::remove(path("out.onnx"));
  const Captured gone = run(optimise(runtime(source)));
  EXPECT_EQ(gone.status.code, 1);
  EXPECT_THAT(gone.errors, HasSubstr("seven cannot run it: no such device"));
  EXPECT_FALSE(std::filesystem::exists(path("out.onnx")));
}

TEST_F(RuntimesTest, AResultThatIsAnotherModelThereIsNotEmitted) {
  const auto reason_with = [&](const std::string& other) {
    const std::string source = adapter("4", "2") + R"(
import numpy
only_time = load

def load(model, inputs, threads):
    run = only_time(model, inputs, threads)
    y = numpy.array([1, 2], "float32")
    if os.path.basename(model) == "out.onnx":
        y[0] = )" + other + R"(
    return lambda: run() and [y]
)";
    EXPECT_EQ(run(optimise(runtime(source))).status.code, 0);
    return json_of(path("report.json")).at("reason").get<std::string>();
  };
  EXPECT_THAT(reason_with("1.001"), HasSubstr("measured faster"));
  EXPECT_THAT(reason_with("1.1"), HasSubstr("in seven its output arr_0 is another: relative error 0.05"));
  EXPECT_THAT(reason_with("numpy.nan"), HasSubstr("in seven its output arr_0 is another: "));
}

/// o = x w + y u, and c of v and z. Two products by two constants are one product, if x and y are copied side
/// by side: by the device's rates that is slower.
std::string two_products(const std::filesystem::path& file) {
  exec::testing::ModelBuilder model;
  for (const char* name : {"x", "y", "v", "z"}) model.input(name, {4096, 64});
  model.weight("w", {64, 32}, std::vector<float>(64 * 32, 0.01f));
  model.weight("u", {64, 32}, std::vector<float>(64 * 32, 0.02f));
  model.node("MatMul", {"x", "w"}, {"a"});
  model.node("MatMul", {"y", "u"}, {"b"});
  model.node("Add", {"a", "b"}, {"o"});
  exec::testing::set_int(model.node("Concat", {"v", "z"}, {"c"}), "axis", 1);
  return model.output("o", {4096, 32}).output("c", {4096, 128}).write(file);
}

TEST_F(RuntimesTest, ASearchHearsTheKernelsOfAnAdapter) {
  const std::string no_kernels = R"(
import os, time

def version():
    return "7.1"

def load(model, inputs, threads):
    def run():
        end = time.process_time() + (0.008 if os.path.basename(model) == "in.onnx" else 0.004)
        while time.process_time() < end:
            pass
        return [inputs["x"]]
    return run
)";
  std::vector<std::string> arguments = optimise(runtime(no_kernels));
  two_products(arguments[1]);
  ASSERT_EQ(run(arguments).status.code, 0);
  EXPECT_TRUE(json_of(path("report.json")).at("found").at("rules").empty()) << "by rates it is no gain";

  const std::string slow_addition = no_kernels + R"(
def kernels(model, inputs, threads, seconds):
    if os.path.basename(model) != "in.onnx":
        return []
    return [("MatMul", ["a"], 150), ("MatMul", ["b"], 150), ("Add", ["o"], 7500), ("Concat", ["c"], 130)]
)";
  arguments = optimise(runtime(slow_addition, "eight"));
  two_products(arguments[1]);
  const Captured heard = run(arguments);
  ASSERT_EQ(heard.status.code, 0) << heard.errors;
  const nlohmann::json report = json_of(path("report.json"));
  EXPECT_TRUE(report.at("accepted")) << report.at("reason");
  EXPECT_EQ(report.at("runtime"), "eight");
  EXPECT_NEAR(report.at("speedup"), 2, 0.2);
  EXPECT_GT(report.at("kernels").at("agreed_share"), 0.99);
  EXPECT_GT(report.at("cost_before"), 5000) << "as its kernels take";
  EXPECT_LT(report.at("cost_after"), 1000);
}

TEST_F(RuntimesTest, WithoutKernelsASearchGoesByRates) {
  const std::string none = adapter("8", "4"), failing = none + R"(
def kernels(model, inputs, threads, seconds):
    raise ValueError("no counters")
)";
  const Captured result = run(optimise(runtime(failing)));
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("the search goes by the device's rates: "));
  EXPECT_THAT(result.errors, HasSubstr("seven cannot profile it: no counters"));
  EXPECT_TRUE(json_of(path("report.json")).at("accepted"));

  const Captured profiled = run({"profile", model(), "--runtime", runtime(none)});
  EXPECT_EQ(profiled.status.code, 2);
  EXPECT_THAT(profiled.errors, HasSubstr("seven: its adapter has no function kernels()"));
}

TEST_F(RuntimesTest, OpenVinoTellsItsKernels) {
  if (!std::filesystem::exists(REGRAFT_OPENVINO_PREFIX))
    GTEST_SKIP() << "no OpenVINO in " REGRAFT_OPENVINO_PREFIX ": run launch/setup.sh";
  exec::testing::ModelBuilder model;
  model.input("x", {256, 256}).weight("w", {256, 512}, std::vector<float>(256 * 512, 0.01f));
  model.weight("bias", {512}, std::vector<float>(512, 0.1f)).weight("root", {}, {1.41421354f});
  model.weight("one", {}, {1}).weight("half", {}, {0.5f}).output("o", {256, 512});
  model.node("MatMul", {"x", "w"}, {"product"});
  model.node("Add", {"product", "bias"}, {"biased"});
  model.node("Div", {"biased", "root"}, {"scaled"});
  model.node("Erf", {"scaled"}, {"erf"});
  model.node("Add", {"erf", "one"}, {"plus_one"});
  model.node("Mul", {"biased", "plus_one"}, {"gate"});
  model.node("Mul", {"gate", "half"}, {"gelu"});
  exec::testing::set_int(model.node("Softmax", {"gelu"}, {"o"}), "axis", -1);
  const Captured result = run({"profile", model.write(path("in.onnx")), "--runtime", "openvino", "--kernels",
                               "--threads", "1", "--budget", "0.2", "--json", "-"},
                              REGRAFT_OPENVINO_PREFIX);
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json report = nlohmann::json::parse(result.output);
  ASSERT_EQ(report.at("kernels").size(), 2u) << report;
  EXPECT_EQ(report.at("kernels")[0].at("value"), "gelu") << "all that the product's kernel does";
  EXPECT_EQ(report.at("kernels")[0].at("launched"), nlohmann::json::array({"FullyConnected"}));
  EXPECT_EQ(report.at("kernels")[1].at("launched"), nlohmann::json::array({"Softmax"}));
  EXPECT_GT(report.at("agreed_share"), 0.9);
  EXPECT_GT(report.at("dense_share"), 0.5);
  EXPECT_NEAR(report.at("corrected_us").get<double>() / report.at("run_us").get<double>(), 1, 0.2);
}

TEST_F(RuntimesTest, LibTorchIsBuiltIn) {
  const Captured measured = bench("torch-cpu");
  ASSERT_EQ(measured.status.code, 0) << measured.errors;
  EXPECT_THAT(measured.output, HasSubstr("measured in torch-cpu 2."));

  const Captured optimised = run(optimise("torch-cpu"));
  ASSERT_EQ(optimised.status.code, 0) << optimised.errors;
  const nlohmann::json report = json_of(path("report.json"));
  EXPECT_TRUE(report.at("accepted")) << report.at("reason");
  EXPECT_EQ(report.at("runtimes")[0].at("name"), "torch-cpu");
  EXPECT_EQ(report.at("kernels").at("agreed_share"), 1) << "it goes by what each operation takes alone";
  EXPECT_LT(report.at("runtimes")[0].at("latency_after_ms"),
            report.at("runtimes")[0].at("latency_before_ms"));
}

TEST_F(RuntimesTest, InLibTorchEachOperationIsTimedAlone) {
  const std::string model = regraft::testing::unpacked_model("squeezenet1_1");
  const Captured result =
      run({"profile", model, "--runtime", "torch-cpu", "--kernels", "--threads", "1", "--json", "-"});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json report = nlohmann::json::parse(result.output);
  double convolutions = 0;
  for (const nlohmann::json& op : report.at("ops"))
    if (op.at("op") == "Conv") convolutions = op.at("share");
  EXPECT_GT(convolutions, 0);
  EXPECT_DOUBLE_EQ(report.at("dense_share"), convolutions) << "the model has no products";
  EXPECT_GT(report.at("agreed_share"), 0.99) << "a kernel for each node";
  EXPECT_GT(report.at("samples").size(), 20u);
  EXPECT_NEAR(report.at("corrected_us").get<double>() / report.at("total_us").get<double>(), 1, 0.1);

  const Captured calibrated =
      run({"calibrate", regraft::testing::unpacked_model("nasrnn"), "--runtime", "torch-cpu", "--graphs", "4",
           "--path", "0", "--session", "0.02", "--threads", "1", "--json", path("calibration.json")});
  ASSERT_EQ(calibrated.status.code, 0) << calibrated.errors;
  const nlohmann::json calibration = json_of(path("calibration.json"));
  const nlohmann::json& input = calibration.at("graphs").at(0);
  EXPECT_EQ(input.at("corrected_us"), input.at("alone_us"));
  EXPECT_GT(input.at("corrected_us"), 0);
  EXPECT_FALSE(calibration.contains("searched"));
  EXPECT_EQ(run({"profile", model, "--runtime", "onnxruntime-cuda"}).status.code, 2);
}

TEST_F(RuntimesTest, LibTorchSaysWhatItCannotRun) {
  exec::testing::ModelBuilder model;
  model.input("x", {4}).output("y", {2}).output("i", {2}, ::onnx::TensorProto::INT64).integers("k", {2});
  model.node("TopK", {"x", "k"}, {"y", "i"});
  const Captured result = run({"bench", model.write(path("in.onnx")), "--runtime", "torch-cpu"});
  EXPECT_EQ(result.status.code, 1);
  EXPECT_THAT(result.errors, HasSubstr("does not model TopK"));
  if (std::filesystem::exists("/dev/nvidiactl")) return;
  EXPECT_THAT(bench("torch-cuda").errors,
              HasSubstr("CUDA cannot be used: this machine has no NVIDIA driver (use --runtime torch-cpu)"));
}

}  // namespace
}
