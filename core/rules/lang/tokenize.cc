#include <array>
#include <cctype>
#include <charconv>

#include "core/base/text.h"
#include "core/rules/lang/tokenize.h"

namespace regraft::rules {
namespace {

bool starts_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool continues_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Longest first.
constexpr std::array<std::string_view, 29> kSymbols = {
    "...", "=>", "==", "!=", "<=", ">=", "++", "??", "=", "<", ">", "+", "-", "*", "/",
    "%",   "(",  ")",  "{",  "}",  "[",  "]",  ",",  ";", ":", ".", "?", "|", "&"};

class Lexer {
 public:
  Lexer(std::string_view text, std::uint32_t line, std::string_view file) : text_(text), file_(file) {
    at_.line = line;
  }

  std::vector<Token> run() {
    std::vector<Token> tokens;
    while (skip_blank()) tokens.push_back(next());
    Token end;
    end.at = at_;
    tokens.push_back(end);
    return tokens;
  }

 private:
  char peek(std::size_t ahead = 0) const { return i_ + ahead < text_.size() ? text_[i_ + ahead] : '\0'; }

  // All bytes of one in UTF-8, else a single byte.
  std::string_view character() const {
    for (std::size_t length = 1; length <= 4; ++length)
      if (is_utf8(text_.substr(i_, length))) return text_.substr(i_, length);
    return text_.substr(i_, 1);
  }

  void advance(std::size_t count = 1) {
    for (; count > 0 && i_ < text_.size(); --count, ++i_) {
      if (text_[i_] == '\n') {
        ++at_.line;
        at_.column = 1;
      } else {
        ++at_.column;
      }
    }
  }

  bool skip_blank() {
    while (i_ < text_.size()) {
      if (peek() == '#') {
        while (i_ < text_.size() && peek() != '\n') advance();
      } else if (std::isspace(static_cast<unsigned char>(peek())) != 0) {
        advance();
      } else {
        return true;
      }
    }
    return false;
  }

  std::string word() {
    const std::size_t start = i_;
    while (continues_name(peek())) advance();
    return std::string(text_.substr(start, i_ - start));
  }

  Token next() {
    Token token;
    token.at = at_;
    if (starts_name(peek())) return name(std::move(token));
    if (is_digit(peek())) return number(std::move(token));
    if (peek() == '"') return quoted(std::move(token));
    for (std::string_view symbol : kSymbols) {
      if (text_.substr(i_, symbol.size()) == symbol) {
        token.kind = Token::Kind::symbol;
        token.text = symbol;
        advance(symbol.size());
        return token;
      }
    }
    fail(file_, at_, "unexpected character '" + std::string(character()) + "'",
         "see launch/docs/rule-language.md for the grammar");
  }

  Token name(Token token) {
    token.kind = Token::Kind::name;
    token.text = word();
    if (peek() == '@') {
      advance();
      token.member = true;
      token.member_set = word();
    }
    return token;
  }

  Token number(Token token) {
    const std::size_t start = i_;
    bool real = false;
    while (is_digit(peek())) advance();
    if (peek() == '.' && is_digit(peek(1))) {
      real = true;
      advance();
      while (is_digit(peek())) advance();
    }
    const bool signed_exponent = (peek(1) == '-' || peek(1) == '+') && is_digit(peek(2));
    if ((peek() == 'e' || peek() == 'E') && (is_digit(peek(1)) || signed_exponent)) {
      real = true;
      advance(2);
      while (is_digit(peek())) advance();
    }
    const std::string_view digits = text_.substr(start, i_ - start);
    token.text = digits;
    token.kind = real ? Token::Kind::real : Token::Kind::integer;
    const char* end = digits.data() + digits.size();
    const auto result = real ? std::from_chars(digits.data(), end, token.real)
                             : std::from_chars(digits.data(), end, token.integer);
    if (result.ec != std::errc{})
      fail(file_, token.at, "the number " + token.text + " is out of range", "write one of at most 64 bits");
    return token;
  }

  Token quoted(Token token) {
    token.kind = Token::Kind::text;
    advance();
    const std::size_t start = i_;
    while (i_ < text_.size() && peek() != '"' && peek() != '\n') advance();
    if (peek() != '"') fail(file_, token.at, "a string without end", "close it with \"");
    token.text = text_.substr(start, i_ - start);
    advance();
    return token;
  }

  std::string_view text_;
  std::string_view file_;
  std::size_t i_ = 0;
  Position at_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text, std::uint32_t first_line, std::string_view file) {
  return Lexer(text, first_line, file).run();
}

}
