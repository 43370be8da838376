#include "core/graph/dim_formula.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "core/graph/graph_error.h"

namespace regraft::graph {
namespace {

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  if (b == 0) throw GraphError("a dim divides by zero", "shape", "bind other sizes");
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

/// Recursive descent over a formula. Nothing where the text is none: then it is the name of a symbol of the
/// model.
class Formula {
 public:
  Formula(std::string_view text, const SymbolLookup& lookup) : rest_(text), lookup_(lookup) {}

  std::optional<std::int64_t> value() {
    const std::optional<std::int64_t> result = sum();
    return rest_.empty() ? result : std::nullopt;
  }

 private:
  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  std::optional<std::int64_t> sum() {
    std::optional<std::int64_t> total = product();
    while (total) {
      const bool plus = take("+");
      if (!plus && !take("-")) break;
      const std::optional<std::int64_t> next = product();
      total = next ? std::optional(plus ? *total + *next : *total - *next) : std::nullopt;
    }
    return total;
  }

  std::optional<std::int64_t> product() {
    std::optional<std::int64_t> total = factor();
    while (total) {
      const bool times = take("*");
      if (!times && !take("/")) break;
      const std::optional<std::int64_t> next = factor();
      if (!next) return std::nullopt;
      if (times) {
        total = *total * *next;
      } else {
        total = take("^") ? -floor_quotient(-*total, *next) : floor_quotient(*total, *next);  // ^ rounds up
      }
    }
    return total;
  }

  std::optional<std::int64_t> factor() {
    if (take("bcast(")) {
      const auto sizes = arguments();
      if (sizes.size() != 2) return std::nullopt;
      return sizes[0] == 1 ? sizes[1] : sizes[0];
    }
    if (take("slice(")) return slice(arguments());
    if (take("(")) {
      const std::optional<std::int64_t> inner = sum();
      return take(")") ? inner : std::nullopt;
    }
    return atom();
  }

  /// Arguments up to the closing parenthesis; empty when there is something else.
  std::vector<std::int64_t> arguments() {
    std::vector<std::int64_t> values;
    do {
      const std::optional<std::int64_t> next = sum();
      if (!next) return {};
      values.push_back(*next);
    } while (take(","));
    return take(")") ? values : std::vector<std::int64_t>{};
  }

  static std::optional<std::int64_t> slice(const std::vector<std::int64_t>& arguments) {
    if (arguments.size() != 4 || arguments[3] <= 0) return std::nullopt;
    const std::int64_t size = arguments[0];
    const auto place = [size](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
    };
    const std::int64_t length = place(arguments[2]) - place(arguments[1]);
    return length <= 0 ? 0 : -floor_quotient(-length, arguments[3]);
  }

  std::optional<std::int64_t> atom() {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (failure == std::errc()) {
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      return number;
    }
    const std::string_view name = rest_.substr(0, rest_.find_first_of("()+*/,^"));
    rest_.remove_prefix(name.size());
    return name.empty() ? std::nullopt : lookup_(name);
  }

  std::string_view rest_;
  const SymbolLookup& lookup_;
};

}  // namespace

bool is_formula(std::string_view name) {
  return name.find('(') != std::string_view::npos;
}

std::optional<std::int64_t> evaluate_formula(std::string_view text, const SymbolLookup& lookup) {
  return Formula(text, lookup).value();
}

}
