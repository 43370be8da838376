#include "core/rules/compile/quantity.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace regraft::rules {

using graph::Attr;

namespace {

constexpr std::int64_t kSymbolOffset = std::int64_t{1} << 62;
constexpr std::int64_t kSymbolLimit = -(std::int64_t{1} << 61);

std::optional<std::int64_t> symbolic(char op, std::int64_t a, std::int64_t b) {
  if (is_symbolic(b)) {
    if ((op == '+' && a == 0) || (op == '*' && a == 1)) return b;
    if (op == '-' && a == b) return 0;
    return std::nullopt;
  }
  const bool neutral = (b == 0 && (op == '+' || op == '-')) || (b == 1 && (op == '*' || op == '/'));
  return neutral ? std::optional(a) : std::nullopt;
}

std::optional<std::int64_t> compute(char op, std::int64_t a, std::int64_t b) {
  if (is_symbolic(a) || is_symbolic(b)) return symbolic(op, a, b);
  std::int64_t out = 0;
  switch (op) {
    case '+':
      return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    case '-':
      return __builtin_sub_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    case '*':
      return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    default:
      break;
  }
  if (b == 0 || b == -1)
    return b == 0 ? std::nullopt : compute(op == '/' ? '*' : '-', op == '/' ? a : 0, op == '/' ? -1 : 0);
  const std::int64_t quotient = a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  return op == '/' ? quotient : a - quotient * b;
}

double compute(char op, double a, double b) {
  switch (op) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    default:
      return std::fmod(a, b);
  }
}

Quantity on_lists(char op, const Quantity& a, const Quantity& b) {
  const bool both = a.kind == Quantity::Kind::list && b.kind == Quantity::Kind::list;
  if (both && a.list.size() != b.list.size()) return {};
  List out = a.kind == Quantity::Kind::list ? a.list : b.list;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t left = a.kind == Quantity::Kind::list ? a.list[i] : a.integer;
    const std::int64_t right = b.kind == Quantity::Kind::list ? b.list[i] : b.integer;
    const auto value = compute(op, left, right);
    if (!value) return {};
    out[i] = *value;
  }
  return Quantity::of(std::move(out));
}

// Most models hold float32, rules are written in decimals: 0.1 is meant to match both.
bool same_real(const Quantity& a, const Quantity& b) {
  if (a.exact || b.exact) return a.real == b.real;
  return static_cast<float>(a.real) == static_cast<float>(b.real);
}

}  // namespace

Quantity Quantity::of(bool value) {
  Quantity q;
  q.kind = Kind::boolean;
  q.integer = value ? 1 : 0;
  return q;
}
Quantity Quantity::of(std::int64_t value) {
  Quantity q;
  q.kind = Kind::integer;
  q.integer = value;
  return q;
}
Quantity Quantity::of(double value) {
  Quantity q;
  q.kind = Kind::real;
  q.real = value;
  return q;
}
Quantity Quantity::of(List value) {
  Quantity q;
  q.kind = Kind::list;
  q.list = std::move(value);
  return q;
}
Quantity Quantity::of(std::string value) {
  Quantity q;
  q.kind = Kind::text;
  q.text = std::move(value);
  return q;
}
Quantity Quantity::of(const graph::AttrValue& value) {
  Quantity q;
  q.assign(value);
  return q;
}

void Quantity::assign(const graph::AttrValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    kind = Kind::integer;
    integer = *whole;
  } else if (const auto* number = std::get_if<double>(&value)) {
    kind = Kind::real;
    real = *number;
    exact = false;
  } else if (const auto* ints = std::get_if<graph::Ints>(&value)) {
    kind = Kind::list;
    list.assign(ints->begin(), ints->end());
  } else {
    kind = Kind::text;
    text = std::get<std::string>(value);
  }
}

bool Quantity::equals(const graph::AttrValue& value) const {
  const auto* ints = std::get_if<graph::Ints>(&value);
  if (kind == Kind::list && ints) return std::equal(list.begin(), list.end(), ints->begin(), ints->end());
  return equals(Quantity::of(value));
}

bool Quantity::equals(const Quantity& other) const {
  if (kind == Kind::list && other.kind == Kind::integer) {
    return std::all_of(list.begin(), list.end(), [&](std::int64_t v) { return v == other.integer; });
  }
  if (kind == Kind::integer && other.kind == Kind::list) return other.equals(*this);
  if (kind == Kind::real && other.kind == Kind::integer)
    return same_real(*this, Quantity::of(static_cast<double>(other.integer)));
  if (kind == Kind::integer && other.kind == Kind::real) return other.equals(*this);
  if (kind != other.kind) return false;
  switch (kind) {
    case Kind::none:
      return false;
    case Kind::boolean:
    case Kind::integer:
      return integer == other.integer;
    case Kind::real:
      return same_real(*this, other);
    case Kind::list:
      return list == other.list;
    case Kind::text:
      return text == other.text;
  }
  return false;
}

void Quantity::add_to(Hasher& hasher) const {
  hasher.add(static_cast<std::uint64_t>(kind));
  switch (kind) {
    case Kind::none:
      break;
    case Kind::boolean:
    case Kind::integer:
      hasher.add(static_cast<std::uint64_t>(integer));
      break;
    case Kind::real:
      hasher.add(std::bit_cast<std::uint64_t>(real));
      hasher.add(std::uint64_t{exact});
      break;
    case Kind::list:
      hasher.add(list.size());
      for (const std::int64_t v : list) hasher.add(static_cast<std::uint64_t>(v));
      break;
    case Kind::text:
      hasher.add(hash_text(text));
      break;
  }
}

std::optional<graph::AttrValue> Quantity::as_attr(graph::Attr attr) const {
  switch (kind) {
    case Kind::none:
      return std::nullopt;
    case Kind::boolean:
    case Kind::integer:
      if (is_symbolic(integer)) return std::nullopt;
      if (takes_real(attr)) return static_cast<double>(integer);
      return integer;
    case Kind::real:
      return real;
    case Kind::text:
      return text;
    case Kind::list:
      break;
  }
  graph::Ints out(list.begin(), list.end());
  const auto symbols = std::count_if(out.begin(), out.end(), is_symbolic);
  if (symbols == 0) return out;
  if (attr != graph::Attr::shape || symbols > 1) return std::nullopt;
  std::replace_if(out.begin(), out.end(), is_symbolic, -1);
  return out;
}

std::int64_t encode_dim(graph::Dim dim) {
  return graph::is_symbol(dim) ? dim - kSymbolOffset : dim;
}
bool is_symbolic(std::int64_t encoded) {
  return encoded < kSymbolLimit;
}
graph::Dim decode_dim(std::int64_t encoded) {
  return is_symbolic(encoded) ? encoded + kSymbolOffset : encoded;
}
Quantity arithmetic(char op, const Quantity& a, const Quantity& b) {
  using Kind = Quantity::Kind;
  const auto numeric = [](Kind k) { return k == Kind::integer || k == Kind::real || k == Kind::list; };
  if (!numeric(a.kind) || !numeric(b.kind)) return {};
  if (a.kind == Kind::list || b.kind == Kind::list) {
    if (a.kind == Kind::real || b.kind == Kind::real) return {};
    return on_lists(op, a, b);
  }
  if (a.kind == Kind::integer && b.kind == Kind::integer) {
    const auto value = compute(op, a.integer, b.integer);
    return value ? Quantity::of(*value) : Quantity{};
  }
  const auto real = [](const Quantity& q) {
    return q.kind == Kind::real ? q.real : static_cast<double>(q.integer);
  };
  if ((a.kind == Kind::integer && is_symbolic(a.integer)) ||
      (b.kind == Kind::integer && is_symbolic(b.integer)))
    return {};
  Quantity out = Quantity::of(compute(op, real(a), real(b)));
  out.exact = a.exact || b.exact;
  return out;
}

bool takes_list(Attr attr) {
  switch (attr) {
    case Attr::axes:
    case Attr::dilations:
    case Attr::ends:
    case Attr::equation:
    case Attr::kernel_shape:
    case Attr::output_padding:
    case Attr::pads:
    case Attr::perm:
    case Attr::repeats:
    case Attr::shape:
    case Attr::split:
    case Attr::starts:
    case Attr::steps:
    case Attr::strides:
      return true;
    default:
      return false;
  }
}

bool takes_real(Attr attr) {
  switch (attr) {
    case Attr::alpha:
    case Attr::beta:
    case Attr::epsilon:
    case Attr::max:
    case Attr::min:
    case Attr::momentum:
    case Attr::scale:
    case Attr::value:
      return true;
    default:
      return false;
  }
}

}
