// A runtime's own ops: made only where their domain is allowed, replayed, and left alone where the model has
// them.
#include <gmock/gmock.h>
#include <onnx/onnx_pb.h>

#include "core/base/atomic_file.h"
#include "core/exec/tiny_models.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using exec::testing::ModelBuilder;
using ::testing::HasSubstr;
using testing::json_of;
using testing::run;

constexpr int kTokens = 24, kHeads = 4, kWidth = 32;
constexpr const char* kDomain = "com.microsoft";

void scalar(ModelBuilder& model, const std::string& name, float value) {
  model.weight(name, {}, {value});
}

/// Masked attention as exporters write it, of three inputs.
fs::path attention(const fs::path& path) {
  ModelBuilder model;
  for (const char* name : {"q", "k", "v"}) model.input(name, {1, kTokens, kWidth});
  model.input("m", {1, 1, 1, kTokens}).output("y", {1, kTokens, kWidth});
  model.integers("apart", {1, kTokens, kHeads, kWidth / kHeads}).integers("together", {1, kTokens, kWidth});
  scalar(model, "c", 0.25f);
  const auto perm = [&](const std::string& from, const std::string& to,
                        const std::vector<std::int64_t>& axes) {
    exec::testing::set_ints(model.node("Transpose", {from}, {to}), "perm", axes);
  };
  for (const char* name : {"q", "k", "v"}) {
    model.node("Reshape", {name, "apart"}, {std::string(name) + "r"});
    perm(std::string(name) + "r", std::string(name) + "t",
         {0, 2, name[0] == 'k' ? 3 : 1, name[0] == 'k' ? 1 : 3});
  }
  model.node("MatMul", {"qt", "kt"}, {"s"});
  model.node("Mul", {"s", "c"}, {"sc"});
  model.node("Add", {"sc", "m"}, {"sm"});
  model.node("Softmax", {"sm"}, {"p"});
  model.node("MatMul", {"p", "vt"}, {"o"});
  perm("o", "ot", {0, 2, 1, 3});
  model.node("Reshape", {"ot", "together"}, {"y"});
  return model.write(path);
}

::onnx::ModelProto read(const fs::path& path) {
  ::onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(read_file(path)));
  return model;
}

std::size_t ops_of_domain(const fs::path& path) {
  const ::onnx::ModelProto model = read(path);
  return static_cast<std::size_t>(std::count_if(model.graph().node().begin(), model.graph().node().end(),
                                                [](const auto& node) { return node.domain() == kDomain; }));
}

bool imports_domain(const fs::path& path) {
  const ::onnx::ModelProto model = read(path);
  return std::any_of(model.opset_import().begin(), model.opset_import().end(),
                     [](const auto& import) { return import.domain() == kDomain && import.version() == 1; });
}

class Domain : public ::testing::Test {
 protected:
  Domain() {
    attention(input());
    fs::create_directories(output().parent_path());
    write_file_atomic(script(),
                      "attention-op-masked-scaled\nreshape-identity all\nexpect MultiHeadAttention 1\n");
  }
  Captured optimise(const fs::path& model, const std::vector<std::string>& more) {
    return testing::run_with({"optimise", model.string(), "-o", output().string(), "--quiet", "--accept",
                              "cost", "--log", log().string()},
                             more);
  }
  fs::path input() const { return dir_.path() / "in.onnx"; }
  fs::path output() const { return dir_.path() / "out" / "model.onnx"; }
  fs::path script() const { return dir_.path() / "one.script"; }
  fs::path log() const { return dir_.path() / "log"; }

  TempDir dir_;
};

TEST_F(Domain, IsMadeWhereItIsAllowedAndReplays) {
  const Captured result = optimise(input(), {"--script", script().string(), "--allow-domain", kDomain});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_EQ(ops_of_domain(output()), 1u);
  EXPECT_TRUE(imports_domain(output()));
  const Captured verified = run({"verify", input().string(), output().string(), "--log", log().string()});
  EXPECT_EQ(verified.status.code, 0) << verified.errors << verified.output;
  EXPECT_THAT(verified.errors, HasSubstr("byte-identical"));
}

TEST_F(Domain, IsFoundByASearch) {
  const Captured result = optimise(input(), {"--search", "greedy", "--allow-domain", kDomain, "--json",
                                             (dir_.path() / "r.json").string()});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_EQ(ops_of_domain(output()), 1u);
  EXPECT_TRUE(json_of(dir_.path() / "r.json").at("verified"));
}

TEST_F(Domain, IsNeverMadeWithoutTheOption) {
  for (const char* search : {"greedy", "taso"}) {
    const Captured result = optimise(input(), {"--search", search, "--budget", "2"});
    ASSERT_EQ(result.status.code, 0) << result.errors;
    EXPECT_EQ(ops_of_domain(output()), 0u) << search;
    EXPECT_FALSE(imports_domain(output())) << search;
  }
  const Captured refused = optimise(input(), {"--script", script().string()});
  EXPECT_EQ(refused.status.code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("one.script:1"));
  EXPECT_THAT(refused.errors, HasSubstr("makes ops of com.microsoft"));
  EXPECT_THAT(refused.errors, HasSubstr("--allow-domain com.microsoft"));
}

TEST_F(Domain, ThatIsNotKnownIsRefused) {
  const Captured result = optimise(input(), {"--search", "greedy", "--allow-domain", "com.macrosoft"});
  EXPECT_EQ(result.status.code, 2);
  EXPECT_THAT(result.errors, HasSubstr("did you mean 'com.microsoft'"));
}

TEST_F(Domain, OfTheModelStaysAndIsUnderstood) {
  ASSERT_EQ(optimise(input(), {"--script", script().string(), "--allow-domain", kDomain}).status.code, 0);
  const fs::path fused = dir_.path() / "fused.onnx";
  fs::rename(output(), fused);
  for (const char* search : {"none", "greedy"}) {
    const Captured result = optimise(fused, {"--search", search});
    ASSERT_EQ(result.status.code, 0) << result.errors;
    EXPECT_EQ(ops_of_domain(output()), 1u) << search;
    EXPECT_TRUE(imports_domain(output())) << search;
  }
}

TEST(DomainOfRules, IsListed) {
  const Captured list = run({"rules", "list", "--family", "attention-op"});
  ASSERT_EQ(list.status.code, 0) << list.errors;
  EXPECT_THAT(list.output, HasSubstr("attention-op-masked  (needs --allow-domain com.microsoft)"));
}

}  // namespace
}
