#include "core/rules/instantiate/list_functions.h"

#include <algorithm>
#include <numeric>

namespace regraft::rules {
namespace {

using Ints = List;
using Kind = Quantity::Kind;

constexpr std::size_t kLargestRange = 1 << 16;  // rows

bool is_permutation(const Ints& list) {
  InlineVector<bool, 16> seen(list.size(), false);
  for (std::int64_t v : list) {
    if (v < 0 || v >= static_cast<std::int64_t>(list.size()) || seen[static_cast<std::size_t>(v)])
      return false;
    seen[static_cast<std::size_t>(v)] = true;
  }
  return true;
}

}  // namespace

bool are_dims(const List& list) {
  return std::all_of(list.begin(), list.end(), [](std::int64_t size) { return size >= 0; });
}

// The list index `at` from the front, or from the back where negative.
std::optional<std::size_t> resolve(const Quantity& at, std::size_t size) {
  if (at.kind != Kind::integer) return std::nullopt;
  const std::int64_t i = at.integer < 0 ? at.integer + static_cast<std::int64_t>(size) : at.integer;
  if (i < 0 || i >= static_cast<std::int64_t>(size)) return std::nullopt;
  return static_cast<std::size_t>(i);
}

Quantity reduce(Function function, const Ints& list) {
  if (std::any_of(list.begin(), list.end(), is_symbolic)) {
    return list.size() == 1 ? Quantity::of(list[0]) : Quantity{};
  }
  if (function == Function::sum || function == Function::prod) {
    Quantity total = Quantity::of(std::int64_t{function == Function::sum ? 0 : 1});
    for (std::int64_t v : list)
      total = arithmetic(function == Function::sum ? '+' : '*', total, Quantity::of(v));
    return total;
  }
  if (list.empty()) return {};
  return Quantity::of(function == Function::max ? *std::max_element(list.begin(), list.end())
                                                : *std::min_element(list.begin(), list.end()));
}

Quantity of_list(Function function, Ints list) {
  switch (function) {
    case Function::len:
      return Quantity::of(static_cast<std::int64_t>(list.size()));
    case Function::reverse:
      std::reverse(list.begin(), list.end());
      return Quantity::of(std::move(list));
    case Function::permutation:
      return Quantity::of(is_permutation(list));
    case Function::invert: {
      if (!is_permutation(list)) return {};
      Ints out(list.size(), 0);
      for (std::size_t i = 0; i < list.size(); ++i)
        out[static_cast<std::size_t>(list[i])] = static_cast<std::int64_t>(i);
      return Quantity::of(std::move(out));
    }
    default:
      return reduce(function, list);
  }
}

Quantity range_of(std::span<const Quantity> args) {
  const std::int64_t first = args.size() > 1 ? args[0].integer : 0, last = args.back().integer;
  const bool integers = args[0].kind == Kind::integer && args.back().kind == Kind::integer;
  // Unsigned, so that the difference of any two has a value.
  const std::uint64_t size = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
  if (!integers || last < first || size > kLargestRange) return {};
  Ints out(size, 0);
  std::iota(out.begin(), out.end(), first);
  return Quantity::of(std::move(out));
}

Quantity call_list(Function function, std::span<Quantity> args) {
  Ints& list = args[0].list;
  switch (function) {
    case Function::permute: {
      Ints out;
      for (std::int64_t i : args[1].list) {
        const auto at = resolve(Quantity::of(i), list.size());
        if (!at) return {};
        out.push_back(list[*at]);
      }
      return Quantity::of(std::move(out));
    }
    case Function::position: {
      const auto at = std::find(list.begin(), list.end(), args[1].integer);
      return at == list.end() ? Quantity{} : Quantity::of(static_cast<std::int64_t>(at - list.begin()));
    }
    case Function::remove:
    case Function::set: {
      const auto at = resolve(args[1], list.size());
      if (!at || (function == Function::set && args[2].kind != Kind::integer)) return {};
      if (function == Function::set) {
        list[*at] = args[2].integer;
      } else {
        list.erase(*at);
      }
      return std::move(args[0]);
    }
    default: {  // insert
      const auto at = resolve(args[1], list.size() + 1);
      if (!at || args[2].kind != Kind::integer) return {};
      list.insert(*at, args[2].integer);
      return std::move(args[0]);
    }
  }
}

}
