#include "launch/cli/shell_completion.h"

#include <functional>
#include <string_view>

#include "core/base/text.h"

namespace regraft::launch {
namespace {

using Words = std::vector<std::string>;

/// In single quotes, as both shells read them.
std::string literal(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// Calls `visit` with each command and what is typed for it, "regraft rules list", those below it after it.
void for_each_command(const CommandInfo& command, const std::string& above,
                      const std::function<void(const CommandInfo&, const std::string& path)>& visit) {
  const std::string path = above.empty() ? command.names.front() : above + " " + command.names.front();
  visit(command, path);
  for (const CommandInfo& below : command.commands) for_each_command(below, path, visit);
}

/// What may stand where no option does.
Words plain_words(const CommandInfo& command) {
  Words words;
  for (const CommandInfo& below : command.commands)
    words.insert(words.end(), below.names.begin(), below.names.end());
  for (const OptionInfo& option : command.options)
    if (option.argument) words.insert(words.end(), option.choices.begin(), option.choices.end());
  return words;
}

Words option_names(const CommandInfo& command) {
  Words names;
  for (const OptionInfo& option : command.options)
    if (!option.argument) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

// ---- bash

/// `regraft optimise --search` | `...`: a pattern of `case`.
std::string pattern(const std::string& path, const Words& names) {
  Words whole;
  for (const std::string& name : names) whole.push_back(literal(path + " " + name));
  return join(whole, " | ");
}

constexpr std::string_view kBashBegin = R"(_regraft() {
  local word words='' path=regraft current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  # --option=VALUE reaches us as three words.
  if [[ $current == '=' ]]; then current=''
  elif [[ $previous == '=' ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
)";
constexpr std::string_view kBashOffer = R"(  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _regraft regraft
)";

// ---- zsh

/// What _arguments sets.
constexpr std::string_view kZshLocals = R"(  local curcontext=$curcontext context state state_descr line
  local -A opt_args
)";

/// A text inside a specification of _arguments, in which some signs have a meaning.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("[]:\\").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// "_regraft_rules_list" of "regraft rules list".
std::string function_of(const std::string& path) {
  std::string name = "_" + path;
  for (char& c : name)
    if (c == ' ' || c == '-') c = '_';
  return name;
}

/// ":what:action", which completes a value.
std::string value_of(const OptionInfo& option) {
  const std::string& name = option.names.back();
  return ":" + escaped(name.substr(name.find_first_not_of('-'))) + ":" +
         (option.choices.empty() ? std::string("_files") : "(" + join(option.choices, " ") + ")");
}

/// The arguments of one option: a specification for each of its names.
std::string specifications(const OptionInfo& option) {
  std::string result;
  if (option.argument)
    return " \\\n    " + literal((option.repeats ? "*" : option.required ? "" : ":") + value_of(option));
  for (const std::string& name : option.names) {
    std::string text = option.repeats ? "*" : "(" + join(option.names, " ") + ")";
    text += option.type == "flag" ? name : name + (name.starts_with("--") ? "=" : "+");
    text += "[" + escaped(option.help) + "]";
    result += " \\\n    " + literal(option.type == "flag" ? text : text + value_of(option));
  }
  return result;
}

/// The function that completes after "regraft rules".
std::string zsh_function(const CommandInfo& command, const std::string& path) {
  std::string text = function_of(path) + "() {\n";
  std::string arguments = "  _arguments -C";
  for (const OptionInfo& option : command.options) arguments += specifications(option);
  if (command.commands.empty()) return text + arguments + "\n}\n";
  std::string offered, chosen;
  for (const CommandInfo& below : command.commands) {
    for (const std::string& name : below.names) offered += "    " + literal(name + ":" + below.help) + "\n";
    chosen +=
        "      " + join(below.names, " | ") + ") " + function_of(path + " " + below.names.front()) + " ;;\n";
  }
  text += kZshLocals;
  text +=
      "  local -a commands=(\n" + offered + "  )\n" + arguments + " \\\n    '1: :->command' '*:: :->rest'\n";
  text += "  case $state in\n    command) _describe command commands ;;\n    rest) case $words[1] in\n";
  return text + chosen + "    esac ;;\n  esac\n}\n";
}

}  // namespace

std::string bash_completion(const CommandInfo& program) {
  std::string paths, values, words;
  for_each_command(program, "", [&](const CommandInfo& command, const std::string& path) {
    for (const CommandInfo& below : command.commands)
      paths += "      " + pattern(path, below.names) + ") path=" + literal(path + " " + below.names.front()) +
               " ;;\n";
    for (const OptionInfo& option : command.options) {
      if (option.argument || option.type == "flag") continue;
      values += "    " + pattern(path, option.names) + ") ";
      values += option.choices.empty() ? "return" : "words=" + literal(join(option.choices, " "));
      values += " ;;\n";
    }
    words += "    " + literal(path) + ") words=" + literal(join(plain_words(command), " "));
    words += "; [[ $current != -* ]] || words=" + literal(join(option_names(command), " ")) + " ;;\n";
  });
  return std::string(kBashBegin) + paths + "    esac\n  done\n  case \"$path $previous\" in\n" + values +
         "    *) case $path in\n" + words + "    esac ;;\n  esac\n" + std::string(kBashOffer);
}

std::string zsh_completion(const CommandInfo& program) {
  std::string text = "#compdef regraft\n";
  for_each_command(program, "", [&](const CommandInfo& command, const std::string& path) {
    text += zsh_function(command, path);
  });
  return text +
         "if [[ $funcstack[1] == _regraft ]]; then _regraft \"$@\"; else compdef _regraft regraft; fi\n";
}

}
