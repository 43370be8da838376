#include <algorithm>

#include "core/rules/lang/parse_rules.h"

#include "core/rules/lang/parse_rule.h"
#include "core/rules/lang/parts.h"

namespace regraft::rules {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // some editors begin UTF-8 with it

bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

// A '#' between quotes begins none.
std::string without_comment(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted) return std::string(line.substr(0, i));
  }
  return std::string(line);
}

std::string normalised(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (blank(c) || c == '\n') c = ' ';
    if (c == ' ' && (out.empty() || out.back() == ' ')) continue;
    out += c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// A file's lines, gathered into rules: a rule starts at column 1 and goes on over indented lines.
class FileReader {
 public:
  FileReader(std::string_view text, std::string_view file) : text_(text), file_(file), parts_(file) {
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
    const std::size_t slash = file.find_last_of('/');
    family_ = std::string(file.substr(slash == std::string_view::npos ? 0 : slash + 1));
    family_ = family_.substr(0, family_.find('.'));
  }

  std::vector<RuleText> run() {
    std::uint32_t number = 0;
    for (std::size_t start = 0; start < text_.size(); ++number) {
      std::size_t end = text_.find('\n', start);
      if (end == std::string_view::npos) end = text_.size();
      line(text_.substr(start, end - start), number + 1);
      start = end + 1;
    }
    finish();
    return std::move(rules_);
  }

 private:
  void line(std::string_view raw, std::uint32_t number) {
    const std::string content = without_comment(raw);
    const std::size_t first = content.find_first_not_of(" \t\r");
    if (first == std::string::npos) {
      if (!body_.empty()) body_ += '\n';
    } else if (first > 0) {
      if (body_.empty())
        fail(file_, {number, 1}, "an indented line that continues no rule", "begin rules at column 1");
      body_ += content + '\n';
    } else {
      finish();
      if (content[0] == '[') {
        header(content, number);
      } else {
        body_ = content + '\n';
        body_line_ = number;
      }
    }
  }

  void header(const std::string& content, std::uint32_t number) {
    const std::size_t close = content.find(']');
    if (close == std::string::npos || content.find_first_not_of(" \t\r", close + 1) != std::string::npos) {
      fail(file_, {number, 1}, "a family header is [name] or [name, together] on a line of its own",
           "close it with ]");
    }
    constexpr std::string_view kTogether = ", together";
    family_ = content.substr(1, close - 1);
    together_ = family_.ends_with(kTogether);
    if (together_) family_.resize(family_.size() - kTogether.size());
    if (family_.empty()) fail(file_, {number, 1}, "a family without a name", "write [name]");
  }

  Position column(std::size_t i) const { return {body_line_, static_cast<std::uint32_t>(i + 1)}; }

  void skip_blanks(std::size_t& i) const {
    while (i < body_.size() && blank(body_[i])) ++i;
  }

  std::string word(std::size_t& i) const {
    const std::size_t first = i;
    while (i < body_.size() && rule_name_char(body_[i])) ++i;
    return body_.substr(first, i - first);
  }

  /// What stands between parentheses from `i` on, if they open there; `i` comes to lie behind them.
  std::vector<RuleMark> marks(std::size_t& i) const {
    std::vector<RuleMark> marks;
    if (i >= body_.size() || body_[i] != '(') return marks;
    do {
      skip_blanks(++i);
      const Position at = column(i);
      const std::string name = word(i);
      const auto mark = mark_from_name(name);
      if (!mark) fail(file_, at, "unknown mark '" + name + "'", "one of finite, bounded-terms, nonempty");
      if (std::ranges::find(marks, *mark) != marks.end())
        fail(file_, at, "the mark '" + name + "' stands here twice", "remove one");
      marks.push_back(*mark);
      skip_blanks(i);
    } while (i < body_.size() && body_[i] == ',');
    if (i >= body_.size() || body_[i] != ')')
      fail(file_, column(i), "expected ')' behind the marks", "as in name (finite): ...");
    ++i;
    return marks;
  }

  void finish() {
    if (body_.empty()) return;
    if (body_[0] == '$')
      parts_.define(body_, body_line_);
    else
      rule();
    body_.clear();
  }

  void rule() {
    RuleText rule;
    rule.at = {body_line_, 1};
    rule.family = family_;
    rule.together = together_;
    std::size_t i = 0;
    rule.name = word(i);
    const std::size_t named = i;
    skip_blanks(i);
    rule.marks = marks(i);
    const std::size_t marked = rule.marks.empty() ? named : i;
    skip_blanks(i);
    if (rule.name.empty() || i >= body_.size() || body_[i] != ':') {
      fail(file_, column(i), "a rule begins with 'name:'",
           "names are lower case letters, digits and '-'; marks stand behind them, as in name (finite): ...");
    }
    const std::string begins = rule.name + body_.substr(marked, i + 1 - marked);
    for (std::size_t k = 0; k <= i; ++k) body_[k] = ' ';
    Expanded expanded = parts_.expand(body_, body_line_);
    rule.text = normalised(begins + expanded.text.substr(i + 1));
    parse_rule(std::move(expanded.tokens), file_, rule);
    rules_.push_back(std::move(rule));
  }

  std::string_view text_;
  std::string_view file_;
  std::string family_;
  bool together_ = false;
  std::string body_;
  std::uint32_t body_line_ = 0;
  Parts parts_;
  std::vector<RuleText> rules_;
};

}  // namespace

std::vector<RuleText> parse_rules(std::string_view text, std::string_view file) {
  return FileReader(text, file).run();
}

}
