// What the program does with the files that it is given: nothing is lost, replaced or left behind by
// surprise.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "core/base/atomic_file.h"
#include "core/onnx/model_builder.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Running;

constexpr const char* kLongName = "weights_of_the_model_in_a_file_with_a_long_name.bin";

/// Relu(x w), perhaps with w in a file beside the model.
std::string product(const std::string& data = "") {
  onnx::test::ModelBuilder builder;
  builder.input("x", {"2", "32"}).output("y", {"2", "32"}).floats("w", {32, 32});
  builder.node("MatMul", {"x", "w"}, {"h"});
  builder.node("Relu", {"h"}, {"y"});
  if (!data.empty()) {
    auto& weight = *builder.model.mutable_graph()->mutable_initializer(0);
    weight.clear_raw_data();
    weight.set_data_location(::onnx::TensorProto::EXTERNAL);
    auto& entry = *weight.add_external_data();
    entry.set_key("location");
    entry.set_value(data);
  }
  return builder.bytes();
}

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file_atomic(model(), product());
    fs::create_directory(dir.path() / "out");
  }
  Captured run(std::vector<std::string> arguments) {
    SpawnOptions spawn;
    arguments.insert(arguments.begin(), testing::program());
    spawn.argv = std::move(arguments);
    spawn.working_folder = dir.path();
    return capture_output(spawn, std::chrono::minutes(8));
  }
  /// Import and export only, which is quick.
  Captured optimise(std::vector<std::string> more) {
    more.insert(more.begin(), {"optimise", model().string(), "--search", "none"});
    return run(more);
  }
  fs::path model() const { return dir.path() / "model.onnx"; }
  std::vector<std::string> names(const fs::path& folder) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder)) found.push_back(entry.path().filename());
    return found;
  }
  TempDir dir;
};

TEST_F(Files, ExternalDataComesAlongWithAnUnchangedModel) {
  write_file_atomic(dir.path() / kLongName, std::string(32 * 32 * 4, '\1'));
  write_file_atomic(model(), product(kLongName));
  const Captured result =
      run({"optimise", model().string(), "-o", "out/m.onnx", "--search", "greedy", "--threads", "1"});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("input returned unchanged"));
  EXPECT_THAT(names(dir.path() / "out"), ::testing::UnorderedElementsAre("m.onnx", kLongName));
  EXPECT_EQ(run({"verify", model().string(), "out/m.onnx"}).status.code, 0);
  EXPECT_THAT(run({"verify", model().string(), "out/m.onnx", "--probe-seconds", "0"}).output,
              HasSubstr("draws of extremes left out: "));
}

TEST_F(Files, DevicesAndPipesAreWrittenTo) {
  EXPECT_EQ(optimise({"-o", "/dev/null", "--json", "/dev/null", "--log", "/dev/null"}).status.code, 0);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const fs::path pipe = dir.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string received;
  std::jthread reader([&] { received = read_file(pipe); });
  EXPECT_EQ(optimise({"-o", pipe.string()}).status.code, 0);
  reader.join();
  EXPECT_EQ(received, read_file(model()));
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(Files, ADashIsStandardOutputAndAlone) {
  const Captured bytes = optimise({"-o", "-"});
  EXPECT_EQ(bytes.output, read_file(model())) << bytes.errors;
  EXPECT_THAT(bytes.errors, HasSubstr("re-exported without rewriting"))
      << "what is for people goes elsewhere";
  const Captured log = optimise({"-o", "out/m.onnx", "--log", "-"});
  EXPECT_THAT(log.output, ::testing::StartsWith("{")) << log.errors;
  for (std::vector<std::string> call : std::vector<std::vector<std::string>>{
           {"optimise", "model.onnx", "-o", "out/m.onnx", "--search", "none"},
           {"verify", "model.onnx", "model.onnx"},
           {"profile", "model.onnx", "--budget", "0.1", "--threads", "1"},
           {"bench", "--env", "model.onnx", "--steps", "10"}})
    for (const char* path : {"-", "/dev/stdout"}) {
      call.insert(call.end(), {"--json", path});
      const Captured json = run(call);
      EXPECT_TRUE(nlohmann::json::accept(json.output))
          << call[0] << " printed " << json.output << json.errors;
      call.resize(call.size() - 2);
    }
  EXPECT_EQ(optimise({"-o", "-", "--json", "-"}).status.code, 2) << "two cannot share it";
  EXPECT_FALSE(fs::exists(dir.path() / "-"));
}

TEST_F(Files, WhatCannotArriveIsAnError) {
  EXPECT_EQ(optimise({"-o", "out/m.onnx", "--json", "/dev/full"}).status.code, 1);
  EXPECT_TRUE(fs::is_empty(dir.path() / "out")) << "no model without its report";
  SpawnOptions spawn;
  spawn.argv = {"sh", "-c", "exec \"$@\" > /dev/full", "sh", testing::program(), "inspect", model().string()};
  EXPECT_EQ(Child(spawn).wait().code, 1);
}

TEST_F(Files, AnOutputIsNeverAnInput) {
  const std::string before = read_file(model());
  fs::create_hard_link(model(), dir.path() / "hard");
  const std::string path = "hard";
  {
    const std::vector<std::vector<std::string>> calls{
        {"optimise", model().string(), "-o", "out/m.onnx", "--json", path},
        {"optimise", model().string(), "-o", "out/m.onnx", "--log", path},
        {"optimise", "out/x.onnx", "-o", path, "--policy", model().string()},
        {"verify", model().string(), model().string(), "--json", path},
        {"profile", model().string(), "--json", path},
        {"bench", model().string(), "--json", path},
        {"bench", "--env", model().string(), "--steps", "10", "--json", path},
        {"evaluate", "--models", model().string(), "--json", path},
        {"calibrate", model().string(), "--json", path}};
    fs::copy_file(model(), dir.path() / "out/x.onnx", fs::copy_options::overwrite_existing);
    for (const auto& call : calls) {
      const Captured result = run(call);
      EXPECT_EQ(result.status.code, 2) << call[0] << " " << path << ": " << result.errors;
      EXPECT_THAT(result.errors, HasSubstr("an output never replaces what the call reads"));
    }
  }
  write_file_atomic(dir.path() / kLongName, std::string(32 * 32 * 4, '\1'));
  write_file_atomic(model(), product(kLongName));
  EXPECT_EQ(optimise({"-o", kLongName}).status.code, 2);
  write_file_atomic(model(), before);
}

TEST_F(Files, TheModelItselfMayBeTheOutput) {
  fs::create_symlink("model.onnx", dir.path() / "link.onnx");
  ASSERT_EQ(::chmod(model().c_str(), 0640), 0);
  const std::string before = read_file(model());
  for (const char* path : {"model.onnx", "link.onnx"})
    for (const char* search : {"none", "greedy"}) {
      const Captured result = run({"optimise", path, "-o", path, "--search", search, "--threads", "1"});
      EXPECT_EQ(result.status.code, 0) << result.errors;
      EXPECT_EQ(read_file(model()), before);
      EXPECT_EQ(fs::status(model()).permissions(), static_cast<fs::perms>(0640));
      EXPECT_TRUE(fs::is_symlink(dir.path() / "link.onnx"));
    }
}

TEST_F(Files, ThoseOfTheInstallationAreFoundFromAnyFolder) {
  const std::string policy = "configs/policies/default.policy";
  EXPECT_THAT(run({"inspect", policy}).output, HasSubstr("policy: "));
  for (const auto& call : std::vector<std::vector<std::string>>{
           {"evaluate", "--models", "model.onnx", "--policy", policy, "--scripts", "configs/scripts"},
           {"collect", "model.onnx", "-o", "out/x", "--policy", policy, "--set", "world.collect_steps=1"},
           {"optimise", "model.onnx", "-o", "out/m.onnx", "--search", "none", "--policy", policy},
           {"optimise", "model.onnx", "-o", "out/m.onnx", "--script", "configs/scripts/nasrnn-time.script"}})
    EXPECT_THAT(run(call).errors, Not(::testing::ContainsRegex("cannot be opened|not exist"))) << call[0];
}

TEST_F(Files, WhatIsMissingIsFoundBeforeTheWork) {
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"-o", "out/m.onnx", "--json", "missing/report.json"},
           {"-o", "out/m.onnx", "--log", "missing/log"},
           {"-o", "missing/m.onnx"},
           {"-o", "out/m.onnx", "--search", "policy", "--policy", "missing.policy"},
           {"-o", "out/m.onnx", "--search", "portfolio", "--policy", "missing.policy"}}) {
    std::vector<std::string> call{"optimise", model().string()};
    call.insert(call.end(), more.begin(), more.end());
    const Captured result = run(call);
    EXPECT_EQ(result.status.code, 1) << result.errors;
    EXPECT_THAT(result.errors, HasSubstr("missing"));
    EXPECT_THAT(result.errors, Not(HasSubstr("import"))) << "nothing was begun";
  }
  EXPECT_TRUE(fs::is_empty(dir.path() / "out"));
  for (const auto& call : std::vector<std::vector<std::string>>{{"verify", "model.onnx", "missing.onnx"},
                                                                {"verify", "missing.onnx", "model.onnx"}}) {
    const Captured result = run(call);
    EXPECT_EQ(result.status.code, 1) << "missing is not different";
    EXPECT_THAT(result.errors, HasSubstr("missing.onnx"));
  }
}

/// A signal while the program waits for the reader of a pipe, its output written aside.
TEST_F(Files, SignalsLeaveNothingBehind) {
  const fs::path pipe = dir.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    ::signal(number, SIG_DFL);  // a shell in the background ignores some, and so would what it starts
    Running program({testing::program(), "optimise", model().string(), "-o",
                     (dir.path() / "out/m.onnx").string(), "--search", "none", "--json", pipe.string()});
    ASSERT_TRUE(program.wait_for_line("verify")) << program.seen();
    program.signal(number);
    EXPECT_EQ(program.finish().signal, number);
    EXPECT_TRUE(fs::is_empty(dir.path() / "out")) << "signal " << number;
  }
}

TEST_F(Files, NamesMayBeginWithADash) {
  fs::copy_file(model(), dir.path() / "-m.onnx");
  const Captured result =
      run({"optimise", "./-m.onnx", "-o", "./-out.onnx", "--search", "greedy", "--threads", "1"});
  EXPECT_EQ(result.status.code, 0) << result.errors;
  EXPECT_EQ(run({"optimise", "--output=-out.onnx", "--search", "none", "--", "-m.onnx"}).status.code, 0);
  EXPECT_EQ(run({"verify", "--", "-m.onnx", "-out.onnx"}).status.code, 0);
  EXPECT_EQ(run({"bench", "--budget", "1", "--threads", "1", "--", "-m.onnx"}).status.code, 0);
  EXPECT_THAT(run({"inspect", "-m.onnx"}).errors, HasSubstr("write ./-m.onnx"));
}

TEST_F(Files, ErrorsNameTheOutputAndSpeakOnce) {
  write_file_atomic(model(), product(kLongName));  // whose data is missing
  const Captured result = run({"optimise", model().string(), "-o", "out/m.onnx"});
  EXPECT_EQ(result.status.code, 1);
  EXPECT_THAT(result.errors, HasSubstr(kLongName));
  onnx::test::ModelBuilder unknown;
  unknown.input("x", {"2"}).output("y", {"2"});
  unknown.node("NoSuchOp", {"x"}, {"y"});
  write_file_atomic(model(), unknown.bytes());
  for (const char* search : {"none", "greedy"}) {
    const Captured refused =
        run({"optimise", model().string(), "-o", "out/m.onnx", "--search", search, "--quiet"});
    const std::string& errors = refused.errors;
    EXPECT_THAT(errors, Not(HasSubstr(".flock."))) << errors;
    EXPECT_EQ(errors.find("regraft: "), errors.rfind("regraft: ")) << errors;
  }
}

// On a file system of 64 KB of its own.
TEST_F(Files, AFullDiskIsAnErrorAndKeepsTheOldFile) {
  const auto in_small_disk = [&](const std::string& command) {
    SpawnOptions spawn;
    spawn.argv = {"unshare", "-m", "sh", "-c",
                  "mount -t tmpfs -o size=64k none " + (dir.path() / "out").string() + " && " + command};
    return capture_output(spawn, std::chrono::minutes(8));
  };
  if (in_small_disk("true").status.code != 0) GTEST_SKIP() << "no mounts without privileges";
  onnx::test::ModelBuilder builder;
  builder.input("x", {"1", "200"}).output("y", {"1", "200"}).floats("w", {200, 200});
  builder.node("MatMul", {"x", "w"}, {"y"});
  write_file_atomic(model(), builder.bytes());
  const std::string out = (dir.path() / "out/m.onnx").string();
  const Captured result = in_small_disk(
      "echo old > " + out + "; " + testing::program() + " optimise " + model().string() + " -o " + out +
      " --search none --quiet; echo code $?; cat " + out + "; ls -A " + (dir.path() / "out").string());
  EXPECT_EQ(result.output, "code 1\nold\nm.onnx\n") << result.errors;
  EXPECT_THAT(result.errors, HasSubstr(out + ": cannot be written: No space left on device"));
}

}  // namespace
}
