#include <cmath>
#include <sstream>

#include "core/proof/symbolic/symbolic_rule.h"

namespace regraft::proof {
namespace {

using Kind = SymbolicQuantity::Kind;

Poly number_of(double value) {
  // Few binary digits, or an atom of its own.
  for (std::int64_t denominator = 1; denominator <= (1 << 20); denominator *= 2) {
    const double scaled = value * static_cast<double>(denominator);
    if (std::abs(scaled) < 1e9 && scaled == std::floor(scaled))
      return Poly::number(static_cast<std::int64_t>(scaled), denominator);
  }
  // Every digit is part of the name: numbers that differ are different atoms.
  std::ostringstream name;
  name << "number_" << std::hexfloat << value;
  return Poly::atom({name.str(), {}, {}});
}

}  // namespace

SymbolicQuantity quantity_of(const z3::expr& integer) {
  SymbolicQuantity q;
  q.kind = Kind::integer;
  q.items = {integer};
  return q;
}
SymbolicQuantity quantity_of(Index list) {
  SymbolicQuantity q;
  q.kind = Kind::list;
  q.items = std::move(list);
  return q;
}
SymbolicQuantity truth_of(const z3::expr& condition) {
  SymbolicQuantity q;
  q.kind = Kind::boolean;
  q.items = {condition.simplify()};
  return q;
}
SymbolicQuantity real_of(double value) {
  SymbolicQuantity q;
  q.kind = Kind::real;
  q.literal = value;
  q.real = number_of(value);
  return q;
}

SymbolicQuantity quantity_of(ProofCase& state, const graph::AttrValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return quantity_of(state.number(*integer));
  if (const auto* real = std::get_if<double>(&value)) return real_of(*real);
  SymbolicQuantity out;
  if (const auto* text = std::get_if<std::string>(&value)) {
    out.kind = Kind::text;
    out.text = *text;
    return out;
  }
  Index list;
  for (std::int64_t item : std::get<graph::Ints>(value)) list.push_back(state.number(item));
  return quantity_of(std::move(list));
}

}
