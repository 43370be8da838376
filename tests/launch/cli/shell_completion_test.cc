// What shells offer: each test runs a real bash or zsh with the script that the program prints.
#include <gmock/gmock.h>

#include <sstream>

#include "core/base/atomic_file.h"
#include "launch/command/choices.h"
#include "launch/command/command_tree.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::run;
using ::testing::UnorderedElementsAre;
using Words = std::vector<std::string>;

Words lines(const std::string& text) {
  Words result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

class Completion : public ::testing::Test {
 protected:
  /// Written once a test.
  fs::path script(const std::string& shell) {
    const fs::path file = dir.path() / shell;
    if (fs::exists(file)) return file;
    const Captured printed = run({"completion", shell});
    EXPECT_EQ(printed.status.code, 0) << printed.errors;
    write_file_atomic(file, printed.output);
    return file;
  }
  /// What bash offers for the last of the words, "" for one that is not begun.
  Words bash_offers(const Words& words) {
    SpawnOptions spawn;
    spawn.argv = {"bash", "-c",
                  ("set -u; source \"$0\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _regraft; "
                   "printf '%s\\n' \"${COMPREPLY[@]}\""),
                  script("bash").string(), "regraft"};
    spawn.argv.insert(spawn.argv.end(), words.begin(), words.end());
    const Captured offered = capture_output(spawn, std::chrono::minutes(1));
    EXPECT_EQ(offered.errors, "");
    Words result = lines(offered.output);
    std::erase(result, "");
    return result;
  }
  TempDir dir;
};

TEST_F(Completion, BashOffersCommandsAndThoseBelowThem) {
  EXPECT_THAT(bash_offers({"opti"}), UnorderedElementsAre("optimise", "optimize"));
  EXPECT_THAT(bash_offers({""}),
              AllOf(Contains("train"), Contains("completion"), Not(Contains("measure-one"))));
  EXPECT_THAT(bash_offers({"rules", "imp"}), ElementsAre("import"));
  EXPECT_THAT(bash_offers({"rules", "generate", "--dep"}), ElementsAre("--depth"));
}

TEST_F(Completion, BashOffersOptionsAndTheirChoices) {
  EXPECT_THAT(bash_offers({"optimise", "m.onnx", "--acc"}), ElementsAre("--accept"));
  EXPECT_THAT(bash_offers({"optimize", "m.onnx", "-"}), AllOf(Contains("-o"), Contains("--quiet")));
  EXPECT_THAT(bash_offers({"optimise", "--accept", ""}), UnorderedElementsAre("measured", "cost"));
  EXPECT_THAT(bash_offers({"optimise", "--accept", "=", "m"}), ElementsAre("measured"));
  EXPECT_THAT(bash_offers({"optimise", "--accept", "="}), UnorderedElementsAre("measured", "cost"));
  EXPECT_THAT(bash_offers({"completion", "z"}), ElementsAre("zsh"));
}

/// With no offers of ours bash completes file names (-o default).
TEST_F(Completion, BashLeavesFilesToTheShell) {
  EXPECT_THAT(bash_offers({"optimise", ""}), IsEmpty());
  EXPECT_THAT(bash_offers({"optimise", "m.onnx", "--policy", ""}), IsEmpty());
  EXPECT_THAT(bash_offers({"optimise", "m.onnx", "-o", "opti"}), IsEmpty());
  EXPECT_THAT(bash_offers({"optimise", "train", ""}), IsEmpty()) << "a model may have the name of a command";
}

/// Types the text and a tab in an interactive zsh, and returns the line as it stands then.
constexpr char kZshSession[] = R"(
zmodload zsh/zpty || exit 1
zpty shell zsh -f -i
expect() { local piece; seen=''; while [[ $seen != *$~1* ]] && zpty -r shell piece; do seen+=$piece; done }
zpty -w shell "PS1=; autoload -U compinit; compinit -u -D; source $1"
zpty -w shell "show() { print -r -- \"<<\$BUFFER>>\" }; zle -N show; bindkey '^X' show; print re''ady"
expect ready
zpty -n -w shell "$2"$'\t'$'\x18'
expect '<<*>>'
print -r -- ${${seen##*<<}%%>>*}
zpty -d shell
)";

TEST_F(Completion, ZshCompletesCommandsOptionsAndChoices) {
  if (std::system("zsh -c true 2>/dev/null") != 0)
    GTEST_SKIP() << "zsh is not installed: apt-get install zsh";
  const std::vector<std::pair<std::string, std::string>> typed{
      {"regraft optimis", "regraft optimise "},
      {"regraft rules imp", "regraft rules import "},
      {"regraft optimise m.onnx --acc", "regraft optimise m.onnx --accept="},
      {"regraft optimize m.onnx --accept=mea", "regraft optimize m.onnx --accept=measured "},
      {"regraft optimise m.onnx --accept co", "regraft optimise m.onnx --accept cost "},
      {"regraft completion z", "regraft completion zsh "},
      {"regraft keys --hel", "regraft keys --help "}};
  const fs::path file = script("zsh");
  for (const auto& [before, after] : typed) {
    SpawnOptions spawn;
    spawn.argv = {"zsh", "-f", "-c", kZshSession, "zsh", file.string(), before};
    const Captured session = capture_output(spawn, std::chrono::minutes(1));
    EXPECT_EQ(session.output, after + "\n") << session.errors;
  }
}

/// All that is declared is in the JSON that other programs read.
TEST_F(Completion, TheJsonSaysWhatTheHelpSays) {
  const Captured printed = run({"completion", "json"});
  ASSERT_EQ(printed.status.code, 0) << printed.errors;
  const nlohmann::json program = nlohmann::json::parse(printed.output);
  std::size_t options = 0;
  for (const nlohmann::json& command : program.at("commands")) {
    const std::string help = run({command.at("names")[0], "--help"}).output;
    for (const nlohmann::json& option : command.at("options"))
      for (const std::string name : option.at("names")) {
        EXPECT_THAT(help, ::testing::HasSubstr(name)) << command.at("names");
        ++options;
      }
  }
  EXPECT_GT(options, 100u);
  EXPECT_TRUE(program.at("reports").at("optimise").contains("speedup"));
}

TEST(CommandTree, TellsKindsOfOptionsApart) {
  Command program("p", "a program", "1");
  Command* command = program.add_subcommand("go", "goes");
  std::string file, mode = "slow";
  int count = 3;
  double share = 0;
  bool quiet = false;
  std::vector<std::string> sizes;
  command->add_option("FILE", file, "a file")->required();
  command->add_option("-m,--mode", mode, "how")->check(one_of({"slow", "very fast"}))->capture_default_str();
  command->add_option("--count", count, "how often")->check(in_range(1, 9))->capture_default_str();
  command->add_option("--share", share, "of it");
  command->add_option("--size", sizes, "name=value")->delimiter(',');
  command->add_flag("--quiet", quiet, "no talk");
  program.add_subcommand("inner", "not for people")->hide();
  const CommandInfo info = describe(program);
  ASSERT_EQ(info.commands.size(), 1u);
  const std::vector<OptionInfo>& options = info.commands[0].options;
  ASSERT_EQ(options.size(), 7u) << "--help is the first";
  EXPECT_TRUE(options[1].argument && options[1].required);
  EXPECT_EQ(options[1].names, Words{"FILE"});
  EXPECT_EQ(options[2].names, (Words{"-m", "--mode"}));
  EXPECT_EQ(options[2].choices, (Words{"slow", "very fast"}));
  EXPECT_EQ(options[2].preset, "slow");
  const auto types = [&](std::size_t at) { return options[at].type + (options[at].repeats ? "s" : ""); };
  EXPECT_EQ((Words{types(2), types(3), types(4), types(5), types(6)}),
            (Words{"text", "integer", "number", "texts", "flag"}));
}

}  // namespace
}
