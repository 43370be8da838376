#include "core/graph/einsum_products.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>

#include "core/graph/derived_dims.h"

namespace regraft::graph {
namespace {

/// The labels of an operand. The dims of an ellipsis are digits, counted from the last one: so they fit those
/// of other operands.
std::string labels_of(std::string term, std::size_t rank) {
  const std::size_t dots = term.find("...");
  if (dots == std::string::npos) return term;
  std::string between;
  const std::size_t others = term.size() - 3;
  for (std::size_t i = rank - std::min(rank, others); i > 0; --i)
    between += static_cast<char>('0' + std::min<std::size_t>(i - 1, 9));
  return term.replace(dots, 3, between);
}

bool has(std::string_view labels, char label) {
  return labels.find(label) != std::string_view::npos;
}

/// "ij,jk->ik" as its terms; the last one is the output. Without an arrow the output has what stands once, in
/// the order of the alphabet.
std::vector<std::string> terms_of(std::string_view equation) {
  std::vector<std::string> terms(1);
  std::string once;
  bool arrow = false;
  for (const char c : equation) {
    if (c == ',' || c == '>') {
      terms.emplace_back();
      arrow |= c == '>';
    } else if (std::isalpha(static_cast<unsigned char>(c)) || c == '.') {
      terms.back() += c;
    }
  }
  if (arrow) return terms;
  std::string all;
  for (const std::string& term : terms) all += term;
  for (const char c : all)
    if (c != '.' && std::ranges::count(all, c) == 1) once += c;
  std::ranges::sort(once);
  terms.push_back(once);
  return terms;
}

/// The labels of each operand and of the output; nothing for an equation that does not fit the dims.
std::optional<std::vector<std::string>> labels_of_terms(std::string_view equation,
                                                        std::span<const Dims> dims) {
  std::vector<std::string> terms = terms_of(equation);
  const auto is_sign = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) ||
           std::string_view(" .,->").find(c) != std::string_view::npos;
  };
  if (terms.size() != dims.size() + 1 || !std::ranges::all_of(equation, is_sign)) return std::nullopt;
  std::size_t ellipsis = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::string labels = labels_of(terms[i], dims[i].size());
    if (labels.size() != dims[i].size()) return std::nullopt;
    if (has(terms[i], '.')) ellipsis = std::max(ellipsis, labels.size() + 3 - terms[i].size());
    terms[i] = labels;
  }
  std::string& output = terms.back();
  if (ellipsis > 0 && !has(output, '.')) return std::nullopt;
  output = labels_of(output, output.size() + (has(output, '.') ? ellipsis - 3 : 0));
  return terms;
}

}  // namespace

std::vector<MatrixProduct> einsum_products(std::string_view equation, std::span<const Ints> dims) {
  std::vector<std::string> terms = terms_of(equation);
  if (dims.empty() || terms.size() != dims.size() + 1) return {};
  const std::string output = terms.back();
  std::array<double, 128> sizes{};
  for (std::size_t i = 0; i < dims.size(); ++i) {
    terms[i] = labels_of(std::move(terms[i]), dims[i].size());
    if (terms[i].size() != dims[i].size()) return {};
    for (std::size_t at = 0; at < dims[i].size(); ++at) {
      double& size = sizes[static_cast<unsigned char>(terms[i][at]) & 127];
      size = std::max(size, static_cast<double>(dims[i][at]));  // one of them may be 1
    }
  }
  std::vector<MatrixProduct> products;
  std::string held = terms[0];
  for (std::size_t i = 1; i < dims.size(); ++i) {
    std::string next;
    MatrixProduct product;
    for (const char label : held + terms[i]) {
      if (has(next, label)) continue;
      const bool first = has(held, label), second = has(terms[i], label);
      const bool kept = std::isdigit(static_cast<unsigned char>(label)) || has(output, label) ||
                        std::any_of(terms.begin() + static_cast<std::ptrdiff_t>(i) + 1, terms.end(),
                                    [&](const std::string& term) { return has(term, label); });
      next += label;
      const double size = sizes[static_cast<unsigned char>(label) & 127];
      if (first && second)
        (kept ? product.batch : product.inner) *= size;
      else if (kept)
        (first ? product.rows : product.columns) *= size;
    }
    products.push_back(product);
    held = next;
  }
  return products;
}

std::optional<Ints> einsum_labels(std::string_view equation, const Dims& a, const Dims& b) {
  const std::array operands{a, b};
  const auto terms = labels_of_terms(equation, operands);
  if (!terms) return std::nullopt;
  std::map<char, Dim> dims;
  for (std::size_t i = 0; i < operands.size(); ++i)
    for (std::size_t at = 0; at < operands[i].size(); ++at)
      if (dims.emplace((*terms)[i][at], operands[i][at]).first->second != operands[i][at])
        return std::nullopt;
  Ints numbers;
  std::string all;
  for (const std::string& term : *terms) {
    for (const char label : term) {
      const auto terms_with =
          std::ranges::count_if(*terms, [&](const std::string& one) { return has(one, label); });
      if (std::ranges::count(term, label) > 1 || terms_with < 2) return std::nullopt;
      if (!has(all, label)) all += label;
      numbers.push_back(static_cast<std::int64_t>(all.find(label)));
    }
  }
  constexpr std::size_t kLetters = 26;
  return all.size() <= kLetters ? std::optional(numbers) : std::nullopt;
}

std::string einsum_equation(const Ints& labels, std::size_t rank_a, std::size_t rank_b) {
  std::string text;
  for (std::size_t i = 0; i <= labels.size(); ++i) {
    if (i == rank_a) text += ',';
    if (i == rank_a + rank_b) text += "->";
    if (i < labels.size()) text += static_cast<char>('a' + labels[i]);
  }
  return text;
}

std::optional<Dims> einsum_dims(Tables& tables, std::string_view equation, std::span<const Dims> dims) {
  const auto terms = labels_of_terms(equation, dims);
  if (!terms) return std::nullopt;
  std::map<char, Dim> by_label;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    for (std::size_t at = 0; at < dims[i].size(); ++at) {
      const auto [held, added] = by_label.emplace((*terms)[i][at], dims[i][at]);
      if (!added) held->second = broadcast_dim(tables, op_info(OpKind::mul), held->second, dims[i][at]);
    }
  }
  Dims out;
  for (const char label : terms->back()) {
    const auto found = by_label.find(label);
    if (found == by_label.end()) return std::nullopt;
    out.push_back(found->second);
  }
  return out;
}

}
