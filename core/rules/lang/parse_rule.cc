#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "core/rules/lang/parse_rule.h"

namespace regraft::rules {
namespace {

bool upper(const std::string& name) {
  return !name.empty() && std::isupper(static_cast<unsigned char>(name[0])) != 0;
}

// Deeper nesting than any rule needs; keeps hostile input from exhausting the stack.
constexpr int kMaxDepth = 64;

class Parser {
 public:
  Parser(std::vector<Token> tokens, std::string_view file) : tokens_(std::move(tokens)), file_(file) {}

  void rule(RuleText& out) {
    out.left = clauses("=>");
    expect("=>", "a rule is 'name: pattern => replacement'");
    out.right = clauses("");
    if (!at_end()) unexpected("a clause ends with ';' or ','");
  }

 private:
  using Form = Expr::Form;

  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(i_ + ahead, tokens_.size() - 1)]; }
  bool at_end() const { return peek().kind == Token::Kind::end; }
  bool is(std::string_view symbol, std::size_t ahead = 0) const {
    return peek(ahead).kind == Token::Kind::symbol && peek(ahead).text == symbol;
  }
  bool is_word(std::string_view word) const {
    return peek().kind == Token::Kind::name && !peek().member && peek().text == word;
  }
  Token take() { return tokens_[at_end() ? i_ : i_++]; }
  bool accept(std::string_view symbol) {
    if (!is(symbol)) return false;
    take();
    return true;
  }
  bool accept_word(std::string_view word) {
    if (!is_word(word)) return false;
    take();
    return true;
  }
  [[noreturn]] void unexpected(const std::string& remedy) const {
    fail(file_, peek().at, at_end() ? "the rule ends too early" : "unexpected '" + peek().text + "'", remedy);
  }
  void expect(std::string_view symbol, const std::string& remedy) {
    if (!accept(symbol)) unexpected(remedy.empty() ? "expected '" + std::string(symbol) + "' here" : remedy);
  }

  std::vector<Clause> clauses(std::string_view stop) {
    std::vector<Clause> all;
    while (!at_end() && !(is(stop) && !stop.empty())) {
      all.push_back(clause());
      if (!accept(";") && !accept(",")) break;
    }
    if (all.empty()) unexpected("a side of a rule has at least one clause");
    return all;
  }

  Target target() {
    const Token name = take();
    if (name.kind != Token::Kind::name)
      fail(file_, name.at, "expected a name before '='", "as in y = Relu(x)");
    Target out{name.text, name.member_set, name.member, false, name.at};
    out.spread = accept("...");
    return out;
  }

  // `(a, b) =`: look ahead to the '=' behind the closing parenthesis, without which it is an expression.
  bool tuple_ahead() const {
    if (!is("(")) return false;
    std::size_t k = 1;
    while (peek(k).kind == Token::Kind::name || is(",", k) || is("...", k)) ++k;
    return is(")", k) && is("=", k + 1);
  }

  Clause clause() {
    Clause out;
    out.at = peek().at;
    if (tuple_ahead()) {
      take();
      do out.targets.push_back(target());
      while (accept(","));
      expect(")", "");
      expect("=", "");
    } else if (peek().kind == Token::Kind::name && is("=", 1)) {
      out.targets.push_back(target());
      take();
    }
    out.value = expression();
    return out;
  }

  Expr make(Form form, Position at, std::vector<Expr> args = {}, std::string text = {}) const {
    Expr e;
    e.form = form;
    e.at = at;
    e.args = std::move(args);
    e.text = std::move(text);
    return e;
  }

  Expr expression() {
    if (++depth_ > kMaxDepth)
      fail(file_, peek().at, "an expression nested too deeply", "bind parts of it to names");
    Expr e = disjunction();
    --depth_;
    return e;
  }

  Expr disjunction() {
    Expr left = conjunction();
    while (is_word("or")) left = infix(std::move(left), &Parser::conjunction);
    return left;
  }
  Expr conjunction() {
    Expr left = negation();
    while (is_word("and")) left = infix(std::move(left), &Parser::negation);
    return left;
  }
  Expr infix(Expr left, Expr (Parser::*operand)()) {
    const Token op = take();
    Expr right = (this->*operand)();
    std::vector<Expr> args;
    args.push_back(std::move(left));
    args.push_back(std::move(right));
    return make(Form::infix, op.at, std::move(args), op.text);
  }
  Expr negation() {
    if (is_word("not")) {
      const Token op = take();
      if (++depth_ > kMaxDepth)
        fail(file_, op.at, "an expression nested too deeply", "bind parts of it to names");
      Expr inner = negation();
      --depth_;
      return make(Form::prefix, op.at, {std::move(inner)}, "not");
    }
    return comparison();
  }
  Expr comparison() {
    Expr left = choice();
    static constexpr std::array<std::string_view, 6> kOps = {"==", "!=", "<", "<=", ">", ">="};
    const bool compares = std::any_of(kOps.begin(), kOps.end(), [&](std::string_view op) { return is(op); });
    if (compares || is_word("in")) return infix(std::move(left), &Parser::choice);
    if (is_word("odd") || is_word("even")) {
      const Token op = take();
      return make(Form::parity, op.at, {std::move(left)}, op.text);
    }
    return left;
  }
  Expr choice() {
    Expr left = joined();
    while (is("??")) left = infix(std::move(left), &Parser::joined);
    return left;
  }
  Expr joined() {
    Expr left = sum();
    while (is("++")) left = infix(std::move(left), &Parser::sum);
    return left;
  }
  Expr sum() {
    Expr left = product();
    while (is("+") || is("-")) left = infix(std::move(left), &Parser::product);
    return left;
  }
  Expr product() {
    Expr left = unary();
    while (is("*") || is("/") || is("%")) left = infix(std::move(left), &Parser::unary);
    return left;
  }
  Expr unary() {
    if (is("-")) {
      const Token op = take();
      if (++depth_ > kMaxDepth)
        fail(file_, op.at, "an expression nested too deeply", "bind parts of it to names");
      Expr inner = unary();
      --depth_;
      return make(Form::prefix, op.at, {std::move(inner)}, "-");
    }
    return postfix();
  }

  Expr postfix() {
    Expr e = primary();
    for (;;) {
      const Position at = peek().at;
      if (accept(".")) {
        e = make(Form::dim, at, {std::move(e), dim_number()});
      } else if (accept("[")) {
        e = subscript(std::move(e), at);
      } else if (accept("...")) {
        e = make(Form::spread, at, {std::move(e)});
      } else if (accept("?")) {
        e = make(Form::optional, at, {std::move(e)});
      } else {
        return e;
      }
    }
  }

  Expr dim_number() {
    const bool negative = accept("-");
    const Token number = take();
    if (number.kind == Token::Kind::name && !negative) return name(number);
    if (number.kind != Token::Kind::integer)
      fail(file_, number.at, "expected a dimension number after '.'", "as in w.0");
    Expr e = make(Form::integer, number.at);
    e.integer = negative ? -number.integer : number.integer;
    return e;
  }

  Expr subscript(Expr base, Position at) {
    Expr first;
    if (!is(":")) first = expression();
    if (!accept(":")) {
      expect("]", "");
      return make(Form::index, at, {std::move(base), std::move(first)});
    }
    Expr last;
    if (!is("]")) last = expression();
    expect("]", "");
    return make(Form::slice, at, {std::move(base), std::move(first), std::move(last)});
  }

  Expr name(const Token& token) const {
    Expr e = make(Form::name, token.at, {}, token.text);
    e.member = token.member;
    e.member_set = token.member_set;
    return e;
  }

  Expr primary() {
    const Token& token = peek();
    switch (token.kind) {
      case Token::Kind::integer:
      case Token::Kind::real: {
        const Token number = take();
        Expr e = make(number.kind == Token::Kind::real ? Form::real : Form::integer, number.at);
        e.integer = number.integer;
        e.real = number.kind == Token::Kind::real ? number.real : static_cast<double>(number.integer);
        return e;
      }
      case Token::Kind::text:
        return make(Form::text, token.at, {}, take().text);
      case Token::Kind::name:
        return named();
      case Token::Kind::symbol:
        if (token.text == "(") {
          take();
          Expr inner = expression();
          expect(")", "");
          return inner;
        }
        if (token.text == "[") return list();
        if (token.text == "{") {
          const Position at = take().at;
          return make(Form::set, at, sequence("}"));
        }
        [[fallthrough]];
      case Token::Kind::end:
        break;
    }
    unexpected("expected a value here");
  }

  std::vector<Expr> sequence(std::string_view close) {
    std::vector<Expr> all;
    if (accept(close)) return all;
    do all.push_back(expression());
    while (accept(","));
    expect(close, "");
    return all;
  }

  Expr list() {
    const Position at = take().at;
    if (accept("]")) return make(Form::list, at);
    std::vector<Expr> all;
    all.push_back(expression());
    if (accept_word("for")) {
      const Token variable = take();
      if (variable.kind != Token::Kind::name || variable.member) {
        fail(file_, variable.at, "expected a name after 'for'", "as in [p[i] for i in range(4)]");
      }
      if (!accept_word("in")) unexpected("as in [p[i] for i in range(4)]");
      all.push_back(choice());
      if (accept_word("if")) all.push_back(expression());
      expect("]", "");
      return make(Form::comprehension, at, std::move(all), variable.text);
    }
    while (accept(",")) all.push_back(expression());
    expect("]", "");
    return make(Form::list, at, std::move(all));
  }

  Expr conditional() {
    const Position at = take().at;
    std::vector<Expr> parts;
    parts.push_back(expression());
    if (!accept_word("then")) unexpected("as in 'if a then b else c'");
    parts.push_back(expression());
    if (!accept_word("else")) unexpected("as in 'if a then b else c'");
    parts.push_back(expression());
    return make(Form::conditional, at, std::move(parts));
  }

  Expr named() {
    if (is_word("if")) return conditional();
    const Token token = take();
    const bool labels = is(":") && !token.member &&
                        ((peek(1).kind == Token::Kind::name && upper(peek(1).text)) || is("{", 1));
    if (labels) {
      take();
      Expr e = make(Form::operation, token.at);
      e.label = token.text;
      if (accept("{")) {
        do e.classes.push_back(take().text);
        while (accept(","));
        expect("}", "");
      } else {
        e.classes.push_back(take().text);
      }
      return operation(std::move(e));
    }
    if (!token.member && (is("{") || (is("(") && upper(token.text)))) {
      Expr e = make(Form::operation, token.at, {}, token.text);
      if (upper(token.text)) e.classes.push_back(token.text);
      return operation(std::move(e));
    }
    if (!token.member && is("(")) {
      take();
      return make(Form::call, token.at, sequence(")"), token.text);
    }
    return name(token);
  }

  Expr operation(Expr e) {
    if (accept("{")) {
      if (!accept("}")) {
        do attribute(e);
        while (accept(","));
        expect("}", "");
      }
    }
    expect("(", "an operation is Name{attributes}(operands)");
    e.args = sequence(")");
    return e;
  }

  void attribute(Expr& operation) {
    if (accept("*")) {
      operation.copy_attrs = true;
      return;
    }
    AttrItem item;
    item.at = peek().at;
    if (peek().kind == Token::Kind::name && (is("=", 1) || is("==", 1))) {
      item.name = take().text;
      item.compare = take().text == "==";
    }
    item.value = expression();
    operation.attrs.push_back(std::move(item));
  }

  std::vector<Token> tokens_;
  std::string_view file_;
  std::size_t i_ = 0;
  int depth_ = 0;
};

}  // namespace

void parse_rule(std::vector<Token> tokens, std::string_view file, RuleText& out) {
  Parser(std::move(tokens), file).rule(out);
}

}
