#include <cstdio>
#include <filesystem>

#include "actors/config_files.h"
#include "core/base/text.h"
#include "core/rules/rule_set.h"
#include "launch/commands/commands.h"

namespace regraft::launch {
namespace {

struct Options {
  std::filesystem::path rules = "configs/rules";
  std::string name;
};

rules::RuleSet load(const Options& options) {
  return rules::RuleSet::load(actors::find_config(options.rules));
}

int list(const Options& options) {
  const rules::RuleSet rules = load(options);
  for (std::size_t i = 0; i < rules.size(); ++i)
    std::printf("%-14s %s\n", rules.info(i).family.c_str(), rules.info(i).name.c_str());
  std::printf("%zu rules, set %s\n", rules.size(), rules.hash().hex().c_str());
  return kDone;
}

int show(const Options& options) {
  const rules::RuleSet rules = load(options);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    names.push_back(rules.info(i).name);
    if (names.back() != options.name) continue;
    std::printf("%s\n", rules.info(i).text.c_str());
    return kDone;
  }
  throw UsageError("there is no rule '" + options.name + "'", options.rules.string(),
                   suggestion(options.name, names));
}

int check(const Options& options) {
  std::printf("%zu rules are well formed\n", load(options).size());
  return kDone;
}

}  // namespace

void add_rules(CLI::App& program, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand("rules", "the rule sets");
  command->require_subcommand(1);
  const auto verb = [&](const char* name, const char* help, int (*run)(const Options&)) {
    CLI::App* sub = command->add_subcommand(name, help);
    sub->add_option("--rules", options->rules, "a .rules file or a folder of them")->capture_default_str();
    sub->callback([options, run, &action] { action = [options, run] { return run(*options); }; });
    return sub;
  };
  verb("list", "names by family", list);
  verb("show", "one rule's text", show)->add_option("NAME", options->name, "of the rule")->required();
  verb("check", "read the rules and report the first error", check);
  add_rules_import(*command, action);
  add_rules_generate(*command, action);
}

}  // namespace regraft::launch
