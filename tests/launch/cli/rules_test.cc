// The commands `regraft rules ...` as users call them, on files of their own.
#include <gmock/gmock.h>

#include <sstream>

#include "core/base/atomic_file.h"
#include "core/exec/tiny_models.h"
#include "core/rulegen/taso/taso_writer.h"
#include "core/rules/set/proof_archive.h"
#include "launch/program.h"
#include "support/models.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::json_of;
using ::testing::Not;
using testing::run;

class RulesCli : public ::testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) const {
    const fs::path path = folder.path() / name;
    fs::create_directories(path.parent_path());
    write_file_atomic(path, text);
    return path;
  }
  TempDir folder;
};

TEST_F(RulesCli, CheckNamesRulesThatRewriteNothing) {
  const fs::path file = write("own.rules",
                              "fine: Relu(Relu(x)) => Relu(x)\n\n"
                              "idle: Relu(x), rank(x) == 1, rank(x) == 2 => x\n");
  const Captured checked = run({"rules", "check", file.string()});
  EXPECT_EQ(checked.status.code, 1);
  const std::string where = file.string() + ":3:1: rule 'idle' rewrites nothing: its guards held";
  EXPECT_THAT(checked.output, AllOf(HasSubstr(where), HasSubstr("contradict each other"),
                                    HasSubstr("regraft rules usage MODEL --rules tested:" + file.string())));
  EXPECT_THAT(checked.output, HasSubstr("2 rules are well formed, 1 of them rewrite nothing"));
}

TEST_F(RulesCli, EveryShippedRuleRewritesSomething) {
  const Captured checked = run({"rules", "check"});
  EXPECT_EQ(checked.status.code, 0) << checked.output;
}

// Statuses of files of the same name, with rules of the same name, in two folders of one folder.
TEST_F(RulesCli, VerifyWritesBesideTheFileAndNowhereElse) {
  const fs::path one = write("one/mine.rules", "r: Relu(Relu(x)) => Relu(x)\nwrong: Relu(x) => Sigmoid(x)\n");
  const fs::path two = write("two/mine.rules", "r: Neg(Neg(x)) => x\n");
  const Captured first = run({"rules", "verify", "--rules", one.string(), "--write"});
  EXPECT_EQ(first.status.code, 1) << "one of them is wrong";
  EXPECT_THAT(first.output, HasSubstr("wrong                        REFUTED"));
  const std::string stored = read_file(one.parent_path() / "mine.status");
  EXPECT_THAT(stored, AllOf(HasSubstr("r proved:"), HasSubstr("wrong tested ")));
  EXPECT_TRUE(fs::exists(one.parent_path() / "mine.proofs.tar.xz"));
  const Captured second = run({"rules", "verify", "--rules", two.string(), "--write"});
  EXPECT_EQ(second.status.code, 0) << second.output;
  EXPECT_EQ(read_file(one.parent_path() / "mine.status"), stored);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2);

  const Captured again = run({"rules", "verify", "--rules", two.string(), "--z3", "z3"});
  EXPECT_EQ(again.status.code, 0) << again.output;
}

// A status that says too much fails the check, and so does one that says too little.
TEST_F(RulesCli, VerifyFailsWhereAStatusIsNotWhatIsFound) {
  const fs::path file = write("mine.rules", "r: Relu(Relu(x)) => Relu(x)\n");
  const Captured unknown = run({"rules", "verify", "--rules", file.string()});
  EXPECT_EQ(unknown.status.code, 1);
  EXPECT_THAT(unknown.output, HasSubstr("better than its status, tested"));
  EXPECT_FALSE(fs::exists(folder.path() / "mine.status")) << "nothing is written unasked";
  ASSERT_EQ(run({"rules", "verify", "--rules", file.string(), "--write"}).status.code, 0);
  EXPECT_EQ(run({"rules", "verify", "--rules", file.string()}).status.code, 0);
  rules::ProofArchive proofs = rules::ProofArchive::load(file);
  proofs.set("r", *proofs.find("r") + "; and more\n");
  proofs.save(file);
  const Captured changed = run({"rules", "verify", "--rules", file.string()});
  EXPECT_EQ(changed.status.code, 1);
  EXPECT_THAT(changed.output, HasSubstr("its proof was changed"));
}

TEST_F(RulesCli, VerifySaysWhyItCannotWrite) {
  const fs::path file = write("mine.rules", "r: Relu(Relu(x)) => Relu(x)\n");
  fs::create_directories(folder.path() / "mine.status");
  const Captured refused = run({"rules", "verify", "--rules", file.string(), "--write"});
  EXPECT_EQ(refused.status.code, 1);
  EXPECT_THAT(refused.errors, AllOf(HasSubstr("mine.status: the statuses of rules are no readable file"),
                                    HasSubstr("move it away")));
}

// A plain z3 reads what is printed.
TEST_F(RulesCli, ShowPrintsAProofAlone) {
  const Captured proof = run({"rules", "show", "matmul-assoc-left", "--proof"});
  ASSERT_EQ(proof.status.code, 0) << proof.errors;
  const fs::path shipped = fs::path(REGRAFT_SOURCE_DIR) / "configs/rules/linear.rules";
  EXPECT_EQ(proof.output, *rules::ProofArchive::load(shipped).find("matmul-assoc-left"));
  const Captured solved = capture_output({.argv = {"z3", write("proof.smt2", proof.output)}});
  EXPECT_THAT(solved.output, AllOf(HasSubstr("unsat"), Not(HasSubstr("error"))));
  EXPECT_THAT(
      run({"rules", "show", "matmul-assoc-left"}).output,
      HasSubstr("matmul-assoc-left.smt2 of " + shipped.parent_path().string() + "/linear.proofs.tar.xz"));
  const Captured none = run({"rules", "show", "conv-whole-axis", "--proof"});
  EXPECT_EQ(none.status.code, 1);
  EXPECT_EQ(none.output, "");
  EXPECT_THAT(none.errors, HasSubstr("rule 'conv-whole-axis' has no proof"));
}

TEST_F(RulesCli, ADamagedArchiveOfProofsIsToldWithARemedy) {
  const fs::path file = write("mine.rules", "r: Relu(Relu(x)) => Relu(x)\n");
  ASSERT_EQ(run({"rules", "verify", "--rules", file.string(), "--write"}).status.code, 0);
  const fs::path proofs = folder.path() / "mine.proofs.tar.xz";
  write_file_atomic(proofs, read_file(proofs).substr(0, 100));
  for (const char* verb : {"list", "verify"}) {
    const Captured refused = run({"rules", verb, "--rules", file.string()});
    EXPECT_EQ(refused.status.code, 1);
    EXPECT_THAT(refused.errors,
                AllOf(HasSubstr(proofs.string() + ": the archive of proofs is truncated or damaged"),
                      HasSubstr("remove it and run 'regraft rules verify --write'")));
  }
  fs::remove(proofs);
  EXPECT_EQ(run({"rules", "verify", "--rules", file.string(), "--write"}).status.code, 0);
  EXPECT_EQ(run({"rules", "verify", "--rules", file.string()}).status.code, 0);
}

TEST_F(RulesCli, VerifyTakesARuleOnceHoweverOftenItIsNamed) {
  const fs::path file = write("mine.rules", "r: Relu(Relu(x)) => Relu(x)\ns: Neg(Neg(x)) => x\n");
  const Captured checked =
      run({"rules", "verify", "r", "r", "s", "r", "--rules", file.string(), "--write", "--verbose"});
  ASSERT_EQ(checked.status.code, 0) << checked.output;
  EXPECT_THAT(checked.output, HasSubstr("total                      2               0       0        0"));
}

TEST_F(RulesCli, ListRefusesAFamilyThatThereIsNot) {
  const Captured wrong = run({"rules", "list", "--family", "atention"});
  EXPECT_EQ(wrong.status.code, 2);
  EXPECT_THAT(wrong.errors, AllOf(HasSubstr("no family 'atention'"), HasSubstr("did you mean 'attention'")));
  EXPECT_EQ(run({"rules", "list", "--family", "atention", "--counts"}).status.code, 2);
  EXPECT_EQ(run({"rules", "list", "--family", "attention"}).status.code, 0);
}

TEST_F(RulesCli, StatusesOfANewerCheckerAreTold) {
  const fs::path file = write("mine.rules", "r: Relu(Relu(x)) => Relu(x)\n");
  ASSERT_EQ(run({"rules", "verify", "--rules", file.string(), "--write"}).status.code, 0);
  const fs::path statuses = folder.path() / "mine.status";
  std::string text = read_file(statuses);
  text.replace(text.rfind(" v"), 3, " v999");
  write_file_atomic(statuses, text);
  const std::string told = "1 statuses are by a newer checker: use the program that it belongs to";
  const Captured listed = run({"rules", "list", "--rules", file.string()});
  EXPECT_EQ(listed.status.code, 0);
  EXPECT_THAT(listed.output, AllOf(HasSubstr("r  (by a newer checker)"), HasSubstr(told)));
  EXPECT_THAT(run({"rules", "verify", "--rules", file.string()}).output, HasSubstr(told));
  EXPECT_THAT(run({"rules", "show", "r", "--rules", file.string()}).output,
              HasSubstr("(by a newer checker) "));
}

TEST_F(RulesCli, WhatThereIsNotIsRefusedWithARemedy) {
  for (const char* verb : {"show", "verify"}) {
    const Captured far = run({"rules", verb, "nosuch"});
    EXPECT_EQ(far.status.code, 2);
    EXPECT_THAT(far.errors, HasSubstr("no rule 'nosuch' (regraft rules list shows all)"));
    EXPECT_THAT(run({"rules", verb, "gather-nrom"}).errors,
                HasSubstr("(did you mean 'gather-norm'?; regraft"));
  }
  const Captured import = run({"rules", "import", folder.path().string()});
  EXPECT_EQ(import.status.code, 1);
  EXPECT_THAT(import.errors, HasSubstr("Is a directory (name a file, not a folder)"));
}

TEST_F(RulesCli, NumbersThatCannotBeMeantAreRefused) {
  const auto refused = [](std::vector<std::string> arguments, const std::string& says) {
    arguments.insert(arguments.begin(), "rules");
    const Captured run_of = run(arguments);
    EXPECT_EQ(run_of.status.code, 2) << run_of.output;
    EXPECT_THAT(run_of.errors, HasSubstr(says));
  };
  refused({"verify", "--draws", "-1"}, "--draws: '-1' is not allowed: give a whole number of 0 or more");
  refused({"generate", "--time", "nan"}, "--time: 'nan' is not allowed: give a finite number of 0 or more");
  refused({"generate", "--time", "inf"}, "--time: 'inf' is not allowed");
  refused({"usage", "m.onnx", "--search-seconds", "nan"}, "give a finite number above 0");
  refused({"import", "f", "--examples", "-8"},
          "--examples: '-8' is not allowed: give a whole number in [8 - ");
  refused({"import", "f", "--seed", "99999999999999999999"}, "--seed: '99999999999999999999' is not allowed");
}

TEST_F(RulesCli, WhatIsLeftOutForItsStatusIsTold) {
  const fs::path file = write("mine.rules", "known: Relu(Relu(x)) => Relu(x)\nnew: Neg(Neg(x)) => x\n");
  ASSERT_EQ(run({"rules", "verify", "known", "--rules", file.string(), "--write"}).status.code, 0);
  const std::string model = regraft::testing::unpacked_model("nasrnn").string();
  const std::vector<std::string> usage{"rules", "usage", model, "--searches", "greedy", "--walks", "1"};
  const auto with = [&](const std::string& rules) {
    std::vector<std::string> arguments = usage;
    arguments.insert(arguments.end(), {"--rules", rules});
    return run(arguments);
  };
  const Captured some = with(file.string());
  EXPECT_EQ(some.status.code, 0) << some.errors;
  EXPECT_THAT(some.errors, HasSubstr("left out, as not known well enough: new;"));
  // Not of the installation's own, wherever the program is called from.
  SpawnOptions elsewhere;
  elsewhere.argv = usage;
  elsewhere.argv.insert(elsewhere.argv.begin(), testing::program());
  elsewhere.working_folder = folder.path();
  const Captured shipped = capture_output(elsewhere, std::chrono::minutes(2));
  EXPECT_EQ(shipped.status.code, 0) << shipped.errors;
  EXPECT_THAT(shipped.errors, Not(HasSubstr("left out")));
  const Captured all = with("tested:" + file.string());
  EXPECT_EQ(all.status.code, 0) << all.errors;
  EXPECT_THAT(all.errors, Not(HasSubstr("left out")));
}

TEST_F(RulesCli, UsageCountsMatchesSearchesAndWalks) {
  const fs::path csv = folder.path() / "usage.csv";
  const std::string model = regraft::testing::unpacked_model("nasrnn").string();
  const std::vector<std::string> arguments{"rules",  "usage",   model, "-o",      csv.string(), "--searches",
                                           "greedy", "--walks", "2",   "--steps", "20"};
  const Captured made = run(arguments);
  ASSERT_EQ(made.status.code, 0) << made.errors;
  EXPECT_THAT(made.errors, HasSubstr(model + ": done\n")) << "it has no dynamic dims to speak of";
  std::istringstream lines(read_file(csv));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "rule,family,model,way,count");
  std::size_t matches = 0, walked = 0, greedy = 0;
  while (std::getline(lines, line)) {
    ASSERT_EQ(std::count(line.begin(), line.end(), ','), 4) << line;
    matches += line.find(",nasrnn,matches,") != std::string::npos ? 1 : 0;
    greedy += line.find(",nasrnn,greedy,") != std::string::npos ? 1 : 0;
    if (line.find(",nasrnn,walk,") != std::string::npos)
      walked += std::stoul(line.substr(line.rfind(',') + 1));
  }
  EXPECT_GT(matches, 0u);
  EXPECT_GT(greedy, 0u);
  EXPECT_EQ(walked, 40u) << "each rewrite of a walk is counted once";
  std::vector<std::string> nowhere = arguments;
  nowhere[4] = "/proc/none/usage.csv";
  EXPECT_EQ(run(nowhere).status.code, 1);
  EXPECT_THAT(run({"rules", "usage", model, "--searches", "policy"}).errors,
              HasSubstr("'policy' is not known ("));
  std::vector<std::string> negative = arguments;
  negative.insert(negative.end(), {"--search-seconds", "-1"});
  EXPECT_EQ(run(negative).status.code, 2);
}

TEST_F(RulesCli, UsageTellsModelsOfTheSameFileNameApart) {
  const fs::path rules = write("mine.rules", "r: Relu(Relu(x)) => Relu(x)\ns: Add(x, y) => Add(y, x)\n");
  const std::string nasrnn = read_file(regraft::testing::unpacked_model("nasrnn"));
  const std::string a = write("a/model.onnx", nasrnn).string(), b = write("b/model.onnx", nasrnn).string(),
                    other = write("b/other.onnx", nasrnn).string();
  const std::string again = (folder.path() / "a/../a/model.onnx").string();
  const Captured made = run({"rules", "usage", a, b, other, again, "--rules", "tested:" + rules.string(),
                             "--searches", "greedy", "--walks", "0"});
  ASSERT_EQ(made.status.code, 0) << made.errors;
  const auto counted = [&](const std::string& model) {
    const std::string row = "\ns,mine," + model + ",matches,";
    const auto at = made.output.find(row);
    return at == std::string::npos ? std::string() : made.output.substr(at + row.size(), 5);
  };
  EXPECT_NE(counted(a), "") << made.output;
  EXPECT_EQ(counted(b).substr(0, 2), counted(a).substr(0, 2));
  EXPECT_EQ(counted("other").substr(0, 2), counted(a).substr(0, 2)) << "each model once";
  EXPECT_EQ(counted("model"), "");
}

TEST_F(RulesCli, ImportKeepsWhatIsSoundAndRefusesADamagedFile) {
  using namespace rulegen::testing;
  const auto relu = rulegen::TasoType::relu;
  const std::string bytes = taso_bytes(
      {taso_rule({taso_matmul(-1, -2), taso_matmul(0, -3)}, {taso_matmul(-2, -3), taso_matmul(-1, 0)}),
       taso_rule({taso_matmul(-1, -2), taso_op(relu, {0})}, {taso_op(relu, {-1}), taso_matmul(0, -2)})});
  const fs::path file = write("graph_subst.pb", bytes), out = folder.path() / "taso.rules",
                 json = folder.path() / "taso.json";
  const Captured made = run({"rules", "import", file.string(), "-o", out.string(), "--json", json.string()});
  ASSERT_EQ(made.status.code, 0) << made.errors;
  EXPECT_THAT(made.output, HasSubstr("rules in the file                2\n"));
  EXPECT_THAT(made.output, HasSubstr("imported                         1\n"));
  EXPECT_THAT(made.output, HasSubstr("   1 refused: "));
  EXPECT_THAT(made.output, HasSubstr("     unsound: "));
  EXPECT_EQ(run({"rules", "check", out.string()}).status.code, 0);
  EXPECT_EQ(json_of(json).at("outcomes").size(), 2u);

  const fs::path torn = write("torn.pb", bytes.substr(0, bytes.size() / 3));
  const Captured refused =
      run({"rules", "import", torn.string(), "-o", (folder.path() / "no.rules").string()});
  EXPECT_EQ(refused.status.code, 1);
  EXPECT_THAT(refused.errors, AllOf(HasSubstr("torn.pb: byte "), HasSubstr("give a graph_subst.pb")));
  EXPECT_FALSE(fs::exists(folder.path() / "no.rules"));
}

TEST_F(RulesCli, GenerateFindsRulesAndGoesOnWhereItStopped) {
  const auto generate = [&](const std::string& name, const std::vector<std::string>& more) {
    return testing::run_with(
        {"rules", "generate", "--ops", "add,mul,relu", "--depth", "2", "-o", (folder.path() / name).string()},
        more);
  };
  const std::string work = (folder.path() / "work").string();
  const Captured whole = generate("whole.rules", {});
  ASSERT_EQ(whole.status.code, 0) << whole.output << whole.errors;
  EXPECT_EQ(run({"rules", "check", (folder.path() / "whole.rules").string()}).status.code, 0);
  const Captured stopped = generate("part.rules", {"--resume", work, "--time", "0.000001"});
  EXPECT_EQ(stopped.status.code, 1);
  EXPECT_THAT(stopped.output, HasSubstr("a later call with the same ops, depth and folder goes on"));
  EXPECT_FALSE(fs::exists(folder.path() / "part.rules"));
  const Captured resumed = generate("part.rules", {"--resume", work});
  ASSERT_EQ(resumed.status.code, 0) << resumed.output << resumed.errors;
  EXPECT_EQ(read_file(folder.path() / "part.rules"), read_file(folder.path() / "whole.rules"));
  EXPECT_EQ(generate("x.rules", {"--depth", "9"}).status.code, 2);
}

}  // namespace
}
