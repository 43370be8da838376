#include "launch/command/command_tree.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "launch/command/choices.h"

namespace regraft::launch {
namespace {

std::string type_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (option.get_expected_max() == 0) return "flag";
  if (type.starts_with("FLOAT")) return "number";
  return type.starts_with("INT") || type.starts_with("UINT") ? "integer" : "text";
}

OptionInfo describe(const CLI::Option& option) {
  OptionInfo info{.help = option.get_description(),
                  .type = type_of(option),
                  .choices = choices_of(option.get_type_name()),
                  .preset = option.get_default_str(),
                  .argument = !option.nonpositional(),
                  .repeats = option.get_items_expected_max() > 1,
                  .required = option.get_required()};
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  if (info.argument) info.names.push_back(option.get_name(true));
  return info;
}

CommandInfo describe(const CLI::App& program) {
  CommandInfo info{.names = {program.get_name()}, .help = program.get_description()};
  info.names.insert(info.names.end(), program.get_aliases().begin(), program.get_aliases().end());
  for (const CLI::Option* option : program.get_options())
    if (!option->get_group().empty()) info.options.push_back(describe(*option));
  for (const CLI::App* command :
       program.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
    info.commands.push_back(describe(*command));
  return info;
}

}  // namespace

CommandInfo describe(const Command& program) {
  return describe(program.app());
}

nlohmann::json to_json(const CommandInfo& command) {
  nlohmann::json options = nlohmann::json::array(), commands = nlohmann::json::array();
  for (const OptionInfo& option : command.options)
    options.push_back({{"names", option.names},
                       {"help", option.help},
                       {"type", option.type},
                       {"choices", option.choices},
                       {"default", option.preset},
                       {"argument", option.argument},
                       {"repeats", option.repeats},
                       {"required", option.required}});
  for (const CommandInfo& below : command.commands) commands.push_back(to_json(below));
  return {{"names", command.names},
          {"help", command.help},
          {"options", std::move(options)},
          {"commands", std::move(commands)}};
}

}
