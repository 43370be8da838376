#include "core/rules/script.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "core/base/file.h"

namespace regraft::rules {
namespace {

constexpr std::size_t kMostRewrites = 100000;  // of one step: rules that undo each other go on for ever

[[noreturn]] void fail(const Script& script, std::size_t line, const std::string& what,
                       const std::string& remedy) {
  throw RuleError(what, script.where + ":" + std::to_string(line), remedy);
}

std::size_t number_in(const Script& script, std::size_t line, const std::string& word) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size())
    fail(script, line, "'" + word + "' is no number", "write RULE, RULE 3, RULE all or RULE at 2");
  return value;
}

ScriptStep step_of(const Script& script, std::size_t line, const std::vector<std::string>& words) {
  using Form = ScriptStep::Form;
  ScriptStep step{Form::largest, words[0], 1, line};
  if (words[0] == "expect") {
    if (words.size() != 3)
      fail(script, line, "an expectation that is not complete", "write expect MatMul 32");
    return {Form::expect, words[1], number_in(script, line, words[2]), line};
  }
  if (words.size() == 3 && words[1] == "at") {
    step.form = Form::numbered;
    step.number = number_in(script, line, words[2]);
  } else if (words.size() == 2 && words[1] == "all") {
    step.form = Form::all;
  } else if (words.size() == 2) {
    step.number = number_in(script, line, words[1]);
  } else if (words.size() > 2) {
    fail(script, line, "too many words", "write RULE, RULE 3, RULE all or RULE at 2");
  }
  return step;
}

class Runner {
 public:
  Runner(const Script& script, graph::Graph& graph, const RuleSet& rules)
      : script_(script), graph_(graph), rules_(rules), index_(rules, graph) {}

  std::vector<LogEntry> run() {
    for (const ScriptStep& step : script_.steps) {
      if (step.form == ScriptStep::Form::expect) {
        expect(step);
        continue;
      }
      const auto rule = rules_.find(step.name);
      if (!rule) fail(script_, step.line, "there is no rule '" + step.name + "'", "see regraft rules list");
      rewrite(step, static_cast<std::uint32_t>(*rule));
    }
    return std::move(entries_);
  }

 private:
  void rewrite(const ScriptStep& step, std::uint32_t rule) {
    const bool all = step.form == ScriptStep::Form::all;
    const bool numbered = step.form == ScriptStep::Form::numbered;
    const std::size_t times = all ? kMostRewrites : numbered ? 1 : step.number;
    for (std::size_t done = 0; done < times; ++done) {
      const auto matches = index_.matches(rule);
      const std::size_t at = numbered ? step.number : 0;
      if (matches.size() <= at) {
        if (all) return;
        fail(script_, step.line,
             step.name + " matches " + std::to_string(matches.size()) + " times after " +
                 std::to_string(done) + " rewrites of this line",
             "");
      }
      const auto fewer = [](const Match& a, const Match& b) { return a.nodes.size() < b.nodes.size(); };
      apply_match(numbered ? matches[at] : *std::max_element(matches.begin(), matches.end(), fewer));
    }
    if (all) fail(script_, step.line, step.name + " does not come to an end", "give a number of times");
  }

  void apply_match(const Match& found) {
    const Match match = found;  // the index forgets it
    entries_.push_back({rules_.info(match.rule).name, {match.nodes.begin(), match.nodes.end()}});
    const auto mark = graph_.mark();
    apply(graph_, rules_, match);
    index_.update(graph_.touched_since(mark));
  }

  void expect(const ScriptStep& step) const {
    std::size_t count = graph_.operation_count();
    if (step.name != "total") {
      const auto kind = graph::op_from_name(step.name);
      if (!kind) fail(script_, step.line, "'" + step.name + "' is no op", "write an ONNX op type, or total");
      count = 0;
      for (graph::NodeId id = 0; id < graph_.id_bound(); ++id)
        count += graph_.alive(id) && graph_.node(id).kind == *kind ? 1 : 0;
    }
    if (count == step.number) return;
    fail(script_, step.line,
         std::to_string(count) + " operations where " + std::to_string(step.number) + " are expected (" +
             step.name + ")",
         "");
  }

  const Script& script_;
  graph::Graph& graph_;
  const RuleSet& rules_;
  MatchIndex index_;
  std::vector<LogEntry> entries_;
};

}  // namespace

Script Script::parse(std::string_view text, const std::string& where) {
  Script script;
  script.where = where;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::vector<std::string> list;
    for (std::string word; words >> word;) list.push_back(word);
    if (!list.empty()) script.steps.push_back(step_of(script, number, list));
  }
  return script;
}

Script Script::load(const std::filesystem::path& path) {
  return parse(read_file(path), path.string());
}

std::vector<LogEntry> run_script(const Script& script, graph::Graph& graph, const RuleSet& rules) {
  return Runner(script, graph, rules).run();
}

}  // namespace regraft::rules
