#include "launch/experiment/spec.h"

#include <toml++/toml.h>
#include <algorithm>
#include <initializer_list>

#include "core/base/file.h"
#include "core/base/text.h"
#include "launch/experiment/spec_check.h"

namespace regraft::launch {
namespace {

/// Takes keys of one TOML table and in the end refuses those that nobody took.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string source) : table_(table), source_(std::move(source)) {}

  [[noreturn]] void fail(const std::string& problem, const toml::node& node,
                         const std::string& remedy) const {
    throw ExperimentError(problem, source_ + ":" + std::to_string(node.source().begin.line), remedy);
  }

  std::string text(const std::string& key, bool required) {
    const toml::node* node = take(key, required);
    if (node == nullptr) return "";
    if (const auto value = node->value_exact<std::string>()) return *value;
    fail("'" + key + "' is not a string", *node, "put it into quotes");
  }

  double number(const std::string& key) {
    const toml::node* node = take(key, true);
    if (const auto value = node->value<double>(); value && node->is_number()) return *value;
    fail("'" + key + "' is not a number", *node, "give a number");
  }

  /// A string, or a list of them.
  std::vector<std::string> one_or_more(const std::string& key) { return one_or_more(*take(key, true), key); }

  std::vector<std::string> one_or_more(const toml::node& node, const std::string& key) const {
    if (const auto value = node.value_exact<std::string>()) return {*value};
    std::vector<std::string> values = list(node, key);
    if (values.empty()) fail("'" + key + "' is an empty list", node, "name at least one");
    return values;
  }

  /// Keys in their order, each with a string or a list of them.
  std::vector<std::pair<std::string, std::vector<std::string>>> choices(const std::string& key);

  std::vector<std::string> texts(const std::string& key, bool required) {
    const toml::node* node = take(key, required);
    if (node == nullptr) return {};
    return list(*node, key);
  }

  std::vector<std::string> list(const toml::node& node, const std::string& key) const {
    std::vector<std::string> values;
    if (!node.is_array()) fail("'" + key + "' is not a list", node, "write [\"...\", \"...\"]");
    for (const toml::node& item : *node.as_array()) {
      const auto value = item.value_exact<std::string>();
      if (!value) fail("an item of '" + key + "' is not a string", item, "put it into quotes");
      values.push_back(*value);
    }
    return values;
  }

  bool flag(const std::string& key) {
    const toml::node* node = take(key, false);
    if (node == nullptr) return false;
    const auto value = node->value_exact<bool>();
    if (!value) fail("'" + key + "' is neither true nor false", *node, "write " + key + " = true");
    return *value;
  }

  const toml::table* table(const std::string& key, bool required) {
    const toml::node* node = take(key, required);
    if (node == nullptr) return nullptr;
    if (!node->is_table()) fail("'" + key + "' is not a table", *node, "write [" + key + "]");
    return node->as_table();
  }

  /// The tables of [[key]].
  std::vector<const toml::table*> tables(const std::string& key) {
    std::vector<const toml::table*> all;
    const toml::node* node = take(key, false);
    if (node == nullptr) return all;
    if (!node->is_array()) fail("'" + key + "' is not a list of tables", *node, "write [[" + key + "]]");
    for (const toml::node& item : *node->as_array()) {
      if (!item.is_table()) fail("'" + key + "' holds what is no table", item, "write [[" + key + "]]");
      all.push_back(item.as_table());
    }
    return all;
  }

  void done() const {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (std::find(taken_.begin(), taken_.end(), name) != taken_.end()) continue;
      const std::string hint = suggestion(name, taken_);
      fail("unknown key '" + name + "'", node, hint.empty() ? "remove it" : hint);
    }
  }

  const std::string& source() const { return source_; }
  const toml::table& raw() const { return table_; }

 private:
  const toml::node* take(const std::string& key, bool required) {
    taken_.push_back(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr && required) fail("'" + key + "' is missing", table_, "add it");
    return node;
  }

  const toml::table& table_;
  std::string source_;
  std::vector<std::string> taken_;
};

/// Keys in the order in which the file has them: TOML tables are sorted by name.
std::vector<std::pair<std::string, const toml::node*>> in_order(const toml::table& table) {
  std::vector<std::pair<std::string, const toml::node*>> keys;
  for (const auto& [key, node] : table) keys.emplace_back(key.str(), &node);
  std::sort(keys.begin(), keys.end(),
            [](const auto& a, const auto& b) { return a.second->source().begin < b.second->source().begin; });
  return keys;
}

std::vector<std::pair<std::string, std::vector<std::string>>> TableReader::choices(const std::string& key) {
  std::vector<std::pair<std::string, std::vector<std::string>>> all;
  if (const toml::table* list = table(key, false))
    for (const auto& [name, node] : in_order(*list)) all.emplace_back(name, one_or_more(*node, name));
  return all;
}

void read_values(TableReader& reader, const toml::table& table, ExperimentSpec& spec, bool replace) {
  for (const auto& [key, node] : in_order(table)) {
    auto varied = std::find_if(spec.matrix.begin(), spec.matrix.end(),
                               [&key = key](const auto& each) { return each.first == key; });
    if (replace && varied == spec.matrix.end() && !spec.values.contains(key))
      reader.fail("'" + key + "' is neither in [matrix] nor in [values]", *node, "name one that is");
    if (node->is_array()) {
      std::vector<std::string> values = reader.list(*node, key);
      if (values.empty()) reader.fail("'" + key + "' has no values", *node, "give at least one");
      if (varied != spec.matrix.end())
        varied->second = std::move(values);
      else
        spec.matrix.emplace_back(key, std::move(values));
    } else if (const auto value = node->value_exact<std::string>(); value && varied == spec.matrix.end()) {
      spec.values[key] = *value;
    } else {
      reader.fail("'" + key + "' has another form than before or is not a string", *node,
                  "[matrix] holds lists of strings, [values] strings");
    }
  }
}

ExperimentStep read_step(const toml::table& table, const std::string& source) {
  TableReader reader(table, source);
  ExperimentStep step{reader.text("name", true), reader.texts("over", false),   reader.choices("only"),
                      reader.texts("run", true), reader.texts("resume", false), reader.flag("shared")};
  reader.done();
  if (step.run.empty()) reader.fail("'run' is empty", table, "give the program's arguments");
  return step;
}

/// One for each step that is named.
std::vector<ExperimentRows> read_rows(const toml::table& table, const std::string& source) {
  TableReader reader(table, source);
  ExperimentRows rows;
  rows.table = reader.text("table", true);
  const std::vector<std::string> steps = reader.one_or_more("step");
  rows.file = reader.text("file", true);
  rows.each = reader.text("each", false);
  rows.tags = reader.text("tags", false);
  rows.where = reader.choices("where");
  for (const auto& [key, node] : in_order(*reader.table("columns", true))) {
    const auto value = node->value_exact<std::string>();
    if (!value) reader.fail("'" + key + "' of columns is not a string", *node, "put it in quotes");
    rows.columns.emplace_back(key, *value);
  }
  reader.done();
  std::vector<ExperimentRows> all;
  for (const std::string& step : steps) all.emplace_back(rows).step = step;
  return all;
}

ExperimentPlot read_plot(const toml::table& table, const std::string& source) {
  TableReader reader(table, source);
  ExperimentPlot plot;
  const std::string kind = reader.text("kind", true);
  constexpr std::pair<const char*, ExperimentPlot::Kind> kinds[] = {
      {"lines", ExperimentPlot::Kind::lines},
      {"bars", ExperimentPlot::Kind::bars},
      {"heat", ExperimentPlot::Kind::heat},
      {"scatter", ExperimentPlot::Kind::scatter}};
  const auto found =
      std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& each) { return kind == each.first; });
  if (found == std::end(kinds))
    reader.fail("unknown kind of plot '" + kind + "'", table, "choose lines, bars, heat or scatter");
  plot.kind = found->second;
  plot.name = reader.text("name", true);
  plot.title = reader.text("title", true);
  plot.table = reader.text("table", true);
  plot.x = reader.text("x", true);
  plot.y = reader.text("y", true);
  plot.series = reader.text("series", false);
  plot.value = reader.text("value", plot.kind == ExperimentPlot::Kind::heat);
  plot.x_label = reader.text("x_label", false);
  plot.y_label = reader.text("y_label", false);
  reader.done();
  return plot;
}

ExperimentSummary read_summary(const toml::table& table, const std::string& source) {
  TableReader reader(table, source);
  ExperimentSummary summary{reader.text("name", true), reader.text("title", true), reader.text("table", true),
                            reader.texts("by", true), reader.one_or_more("value")};
  reader.done();
  return summary;
}

ExperimentGap read_gap(const toml::table& table, const std::string& source) {
  TableReader reader(table, source);
  ExperimentGap gap{reader.text("name", true),      reader.text("title", true), reader.text("table", true),
                    reader.texts("against", false), reader.text("by", true),    reader.text("method", true),
                    reader.text("value", true),     reader.texts("of", true)};
  reader.done();
  return gap;
}

toml::table parse(const std::filesystem::path& path) {
  try {
    return toml::parse(read_file(path), path.string());
  } catch (const toml::parse_error& error) {
    throw ExperimentError(std::string(error.description()),
                          path.string() + ":" + std::to_string(error.source().begin.line),
                          "correct the TOML there");
  }
}

}  // namespace

const ExperimentStep& ExperimentSpec::step(const std::string& wanted) const {
  for (const ExperimentStep& step : steps)
    if (step.name == wanted) return step;
  throw ExperimentError("there is no step '" + wanted + "'", "experiment " + name, "name one of [[step]]");
}

namespace {

using Borrowers = std::vector<std::filesystem::path>;

/// One form of the file; `borrowers` are those files whose reading led to it.
ExperimentSpec read_form(const std::filesystem::path& path, bool small, Borrowers borrowers);

/// The steps that an experiment shares with another one, and what they read: that one's models and values.
ExperimentSpec borrow(const toml::table& table, const std::filesystem::path& path, bool small,
                      const Borrowers& borrowers) {
  TableReader reader(table, path.string());
  const std::filesystem::path other = path.parent_path() / (reader.text("experiment", true) + ".toml");
  const std::vector<std::string> names = reader.texts("steps", true);
  reader.done();
  if (!std::filesystem::exists(other))
    reader.fail("there is no experiment '" + other.stem().string() + "' to share steps with", table,
                "name a file beside this one, without .toml");
  if (std::ranges::find(borrowers, std::filesystem::weakly_canonical(other)) != borrowers.end())
    reader.fail("[from] leads back to '" + other.stem().string() + "', which borrows from this one", table,
                "let the experiment that the steps are of have them without [from]");
  ExperimentSpec lender = read_form(other, small, borrowers), spec;
  for (const std::string& name : names) {
    spec.steps.push_back(lender.step(name));
    spec.steps.back().borrowed = true;
    if (!spec.steps.back().shared)
      reader.fail("step '" + name + "' of " + lender.name + " is not shared", table,
                  "add shared = true to it there");
  }
  spec.unpack = std::move(lender.unpack);
  spec.matrix = std::move(lender.matrix);
  spec.values = std::move(lender.values);
  return spec;
}

ExperimentSpec read_form(const std::filesystem::path& path, bool small, Borrowers borrowers) {
  const toml::table root = parse(path);
  TableReader reader(root, path.string());
  ExperimentSpec spec;
  borrowers.push_back(std::filesystem::weakly_canonical(path));
  if (const toml::table* from = reader.table("from", false)) spec = borrow(*from, path, small, borrowers);
  spec.name = path.stem().string();
  spec.title = reader.text("title", true);
  spec.question = reader.text("question", true);
  spec.cpu_minutes = reader.number("cpu_minutes");
  for (std::string& file : reader.texts("unpack", false)) spec.unpack.push_back(std::move(file));
  if (const toml::table* matrix = reader.table("matrix", false)) read_values(reader, *matrix, spec, false);
  if (const toml::table* values = reader.table("values", false)) read_values(reader, *values, spec, false);
  const toml::table* reduced = reader.table("small", true);
  if (small) {
    TableReader small_reader(*reduced, path.string());
    spec.cpu_minutes = small_reader.number("cpu_minutes");
    toml::table rest = *reduced;
    rest.erase("cpu_minutes");
    read_values(reader, rest, spec, true);
  }
  for (const toml::table* table : reader.tables("step"))
    spec.steps.push_back(read_step(*table, path.string()));
  for (const toml::table* table : reader.tables("rows"))
    for (ExperimentRows& rows : read_rows(*table, path.string())) spec.rows.push_back(std::move(rows));
  for (const toml::table* table : reader.tables("plot"))
    spec.plots.push_back(read_plot(*table, path.string()));
  for (const toml::table* table : reader.tables("summary"))
    spec.summaries.push_back(read_summary(*table, path.string()));
  for (const toml::table* table : reader.tables("gap")) spec.gaps.push_back(read_gap(*table, path.string()));
  reader.done();
  check_names(spec, path.string());
  if (!small) check_choices(spec, path.string());
  return spec;
}

}  // namespace

ExperimentSpec load_experiment(const std::filesystem::path& path, bool small) {
  ExperimentSpec full = read_form(path, false, {});
  return small ? read_form(path, true, {}) : full;
}

}  // namespace regraft::launch
