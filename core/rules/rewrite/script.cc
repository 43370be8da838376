#include "core/rules/rewrite/script.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/rules/lang/diagnostics.h"
#include "core/rules/match/match_index.h"

namespace regraft::rules {
namespace {

constexpr std::size_t kMostRewrites = 100000;  // of one step: rules that undo each other go on for ever

[[noreturn]] void fail(const Script& script, std::size_t line, const std::string& what,
                       const std::string& remedy) {
  throw RuleError(printable(what), script.where + ":" + std::to_string(line), printable(remedy));
}

std::size_t number_in(const Script& script, std::size_t line, const std::string& word) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size())
    fail(script, line, "'" + word + "' is no number",
         "write a number, as in RULE 3, RULE at 2, repeat 3 or expect MatMul 32");
  return value;
}

constexpr char kForms[] = "write RULE, RULE 3, RULE all, RULE each or RULE at 2";

ScriptStep repeat_of(const Script& script, std::size_t line, const std::vector<std::string>& words) {
  if (words.size() > 2) fail(script, line, "too many words", "write repeat, or repeat 3");
  return {ScriptStep::Form::repeat,
          words[0],
          words.size() == 2 ? number_in(script, line, words[1]) : 0,
          line,
          {}};
}

ScriptStep step_of(const Script& script, std::size_t line, const std::vector<std::string>& words) {
  using Form = ScriptStep::Form;
  ScriptStep step{Form::largest, words[0], 1, line, {}};
  if (words[0] == "repeat") return repeat_of(script, line, words);
  if (words[0] == "expect") {
    if (words.size() != 3)
      fail(script, line, "an expectation that is not complete", "write expect MatMul 32");
    return {Form::expect, words[1], number_in(script, line, words[2]), line, {}};
  }
  if (words.size() == 3 && words[1] == "at") {
    step.form = Form::numbered;
    step.number = number_in(script, line, words[2]);
  } else if (words.size() == 2 && words[1] == "all") {
    step.form = Form::all;
  } else if (words.size() == 2 && words[1] == "each") {
    step.form = Form::each;
  } else if (words.size() == 2) {
    step.number = number_in(script, line, words[1]);
  } else if (words.size() > 2) {
    fail(script, line, "too many words", kForms);
  }
  return step;
}

class Runner {
 public:
  Runner(const Script& script, graph::Graph& graph, const RuleSet& rules)
      : script_(script), graph_(graph), rules_(rules), index_(rules, graph) {}

  std::vector<Match> run() {
    run(script_.steps);
    return std::move(applied_);
  }

 private:
  void run(const std::vector<ScriptStep>& steps) {
    for (const ScriptStep& step : steps) {
      if (step.form == ScriptStep::Form::expect) {
        expect(step);
      } else if (step.form == ScriptStep::Form::repeat) {
        repeat(step);
      } else if (step.form == ScriptStep::Form::each) {
        rewrite_each(step, number_of(step));
      } else {
        rewrite(step, number_of(step));
      }
    }
  }

  void repeat(const ScriptStep& step) {
    for (std::size_t round = 0; step.number == 0 || round < step.number; ++round) {
      const std::size_t before = applied_.size();
      run(step.body);
      if (applied_.size() == before) return;
      if (applied_.size() > kMostRewrites)
        fail(script_, step.line, "repeat does not come to an end", "give a number of times");
    }
  }

  std::uint32_t number_of(const ScriptStep& step) const {
    if (const auto rule = rules_.find(step.name)) return static_cast<std::uint32_t>(*rule);
    if (const std::string domain = rules_.refused_domain(step.name); !domain.empty())
      fail(script_, step.line, step.name + " makes ops of " + domain + ", which is not allowed",
           "give --allow-domain " + domain);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < rules_.size(); ++i) names.push_back(rules_.info(i).name);
    const std::string like = suggestion(step.name, names);
    fail(script_, step.line, "there is no rule '" + step.name + "'",
         (like.empty() ? "" : like + "; ") + "regraft rules list shows all");
  }

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
             numbered && !matches.empty()
                 ? "matches are numbered from 0: write at " + std::to_string(matches.size() - 1) + " or less"
                 : "mend the lines before, or write " + step.name + " all where there may be none");
      }
      const auto fewer = [](const Match& a, const Match& b) { return a.nodes.size() < b.nodes.size(); };
      apply_match(numbered ? matches[at] : *std::max_element(matches.begin(), matches.end(), fewer));
    }
    if (all) fail(script_, step.line, step.name + " does not come to an end", "give a number of times");
  }

  /// One rewrite may take the ground from another: what matches no more is left out.
  void rewrite_each(const ScriptStep& step, std::uint32_t rule) {
    const auto now = index_.matches(rule);
    const std::vector<Match> wanted(now.begin(), now.end());
    if (wanted.empty())
      fail(script_, step.line, step.name + " matches nowhere",
           "mend the lines before, or write " + step.name + " all where there may be none");
    for (const Match& match : wanted) {
      const auto left = index_.matches(rule);
      if (std::find(left.begin(), left.end(), match) != left.end()) apply_match(match);
    }
  }

  void apply_match(Match match) {  // a copy: the index forgets its own
    const auto mark = graph_.mark();
    apply(graph_, rules_, match);
    index_.update(graph_.touched_since(mark));
    applied_.push_back(std::move(match));
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
         "mend the lines before, or the number");
  }

  const Script& script_;
  graph::Graph& graph_;
  const RuleSet& rules_;
  MatchIndex index_;
  std::vector<Match> applied_;
};

}  // namespace

Script Script::parse(std::string_view text, const std::string& where) {
  Script script;
  script.where = where;
  std::vector<ScriptStep> open;  // repeats that have no end yet
  std::istringstream lines{std::string(text)};
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::vector<std::string> list;
    for (std::string word; words >> word;) list.push_back(word);
    if (list.empty()) continue;
    const bool ends = list[0] == "end" && list.size() == 1;
    if (ends && open.empty()) fail(script, number, "an end without its repeat", "write repeat before it");
    ScriptStep step = ends ? std::move(open.back()) : step_of(script, number, list);
    if (ends) {
      open.pop_back();
    } else if (step.form == ScriptStep::Form::repeat) {
      open.push_back(std::move(step));
      continue;
    }
    (open.empty() ? script.steps : open.back().body).push_back(std::move(step));
  }
  if (!open.empty()) fail(script, open.back().line, "a repeat without its end", "write end after its steps");
  return script;
}

Script Script::load(const std::filesystem::path& path) {
  return parse(read_file(path), path.string());
}

std::vector<Match> run_script(const Script& script, graph::Graph& graph, const RuleSet& rules) {
  return Runner(script, graph, rules).run();
}

}
