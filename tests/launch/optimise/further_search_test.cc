// Where trials take rewrites in, the search goes on from there.
#include <gmock/gmock.h>

#include "core/base/atomic_file.h"
#include "core/exec/tiny_models.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

using testing::json_of;

/// A runtime whose clock goes by what a model holds: 8 s where a Softmax reads the one Transpose, else 6. It
/// names no kernel, so predictions stay. What is affordable goes by that clock, too.
constexpr const char* kScripted = R"(
import time

now_ns = 0

def version():
    return "1"

def load(model, inputs, threads):
    with open(model, "rb") as file:
        text = file.read()
    turn, softmax = b'"\tTranspose', b'"\x07Softmax'
    as_given = text.count(turn) == 1 and text.find(turn) < text.find(softmax)
    took_ns = 8_000_000_000 if as_given else 6_000_000_000
    time.process_time_ns = lambda: now_ns

    def run():
        global now_ns
        now_ns += took_ns
        return [inputs["x"]]
    return run

def kernels(model, inputs, threads, seconds):
    return []
)";

// The cost model alone does not want the two more Transposes of `turn`, which trials find to pay. Only behind
// them does `turns` match, which only the cost model wants: from the input, a search finds neither.
constexpr const char* kTurns =
    "turn: Softmax{1}(x), rank(x) == 2 => Transpose{[1, 0]}(Softmax{0}(Transpose{[1, 0]}(x)))\n"
    "turns: Transpose{[1, 0]}(Transpose{[1, 0]}(x)) => x\n";

TEST(FurtherSearch, StartsWhereTrialsEnded) {
  const TempDir dir;
  const auto path = [&](const char* name) { return (dir.path() / name).string(); };
  exec::testing::ModelBuilder model;
  model.input("x", {64, 64}).output("y", {64, 2048});
  model.weight("w", {64, 2048}, std::vector<float>(64 * 2048, 0.01f));
  model.node("Transpose", {"x"}, {"t"});
  exec::testing::set_int(model.node("Softmax", {"t"}, {"s"}), "axis", 1);
  model.node("MatMul", {"s", "w"}, {"y"});
  model.write(path("in.onnx"));
  write_file_atomic(path("scripted.py"), kScripted);
  write_file_atomic(path("turn.rules"), kTurns);
  const Captured result =
      testing::run({"optimise", path("in.onnx"), "-o", path("out.onnx"), "--json", path("r.json"), "--search",
                    "greedy", "--rules", "tested:" + path("turn.rules"), "--runtime", path("scripted.py"),
                    "--threads", "1", "--trial-budget", "1400", "--measure-budget", "1"},
                   {{"REGRAFT_PYTHON", "/usr/bin/python3"}, {"REGRAFT_CACHE", ""}});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json report = json_of(path("r.json"));
  ASSERT_EQ(report.at("taken_in").size(), 1u) << report;
  EXPECT_EQ(report.at("taken_in")[0].at("rules"), (nlohmann::json{{"turn", 1}}));
  EXPECT_EQ(report.at("rules"), (nlohmann::json{{"turn", 1}, {"turns", 1}}));
  EXPECT_DOUBLE_EQ(report.at("speedup"), 8 / 6.0);
}

}  // namespace
}
