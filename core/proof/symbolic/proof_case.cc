#include "core/proof/symbolic/proof_case.h"

#include "core/proof/smt/z3_limits.h"

namespace regraft::proof {
namespace {

// In Z3's units of work, which are the same on every machine: some tenths of a second.
constexpr unsigned kQueryWork = 400000;

std::string key_of(const z3::expr& number, const Index& dims) {
  std::string key = number.simplify().to_string();
  for (const z3::expr& d : dims) key += "|" + d.simplify().to_string();
  return key;
}

// Whether it depends on the variable of a sum (symbolic_value.cc names them so).
bool has_bound(const z3::expr& e) {
  if (!e.is_app()) return false;
  if (e.is_const()) return !e.is_numeral() && e.decl().name().str().starts_with("k!");
  for (unsigned i = 0; i < e.num_args(); ++i) {
    if (has_bound(e.arg(i))) return true;
  }
  return false;
}

// The places of row-major numbers inside a tensor of these dims, each >= 1.
Index divided(z3::context& context, const z3::expr& number, const Index& dims) {
  Index places;
  z3::expr stride = context.int_val(1);
  for (std::size_t d = dims.size(); d-- > 0;) {
    const z3::expr place = number / stride;
    places.insert(places.begin(), (d == 0 ? place : z3::mod(place, dims[d])).simplify());
    stride = (stride * dims[d]).simplify();
  }
  return places;
}

}  // namespace

ProofCase::ProofCase(z3::context& context, rules::Choices& choices, std::size_t most_rank)
    : context_(context), choices_(choices), most_rank_(most_rank), solver_(context) {
  solver_.set(limits_of(context, kQueryWork));
}

z3::expr ProofCase::fresh(const std::string& name) {
  return context_.int_const((name + "_" + std::to_string(names_++)).c_str());
}

z3::expr ProofCase::fresh_dim(const std::string& name) {
  z3::expr dim = fresh(name);
  dims_.insert(dim.decl().name().str());
  return dim;
}

bool ProofCase::concrete(const z3::expr& number) const {
  if (!number.is_app()) return false;
  if (number.is_const()) return number.is_numeral() || !dims_.contains(number.decl().name().str());
  for (unsigned i = 0; i < number.num_args(); ++i) {
    if (!concrete(number.arg(i))) return false;
  }
  return true;
}

z3::expr ProofCase::maybe() {
  return context_.bool_const(("maybe_" + std::to_string(names_++)).c_str());
}

void ProofCase::assume(const z3::expr& fact, const std::string& axiom) {
  if (fact.simplify().is_true()) return;
  assumptions_.emplace_back(fact, axiom.empty() ? "" : "; axiom: " + axiom);
  solver_.add(fact);
}

std::uint64_t ProofCase::work_of_z3() const {
  return work_of(solver_);
}

bool ProofCase::possible() {
  return solver_.check() != z3::unsat;
}

bool ProofCase::follows(const z3::expr& claim) {
  const z3::expr simple = claim.simplify();
  if (simple.is_true()) return true;
  if (simple.is_false() && assumptions_.empty()) return false;
  solver_.push();
  solver_.add(!claim);
  const z3::check_result answer = solver_.check();
  solver_.pop();
  unsure_ = unsure_ || answer == z3::unknown;
  return answer == z3::unsat;
}

bool ProofCase::decide(const z3::expr& condition) {
  if (follows(condition)) return true;
  if (follows(!condition)) return false;
  const bool holds = choices_.below(2) == 0;
  assume(holds ? condition : !condition);
  return holds;
}

void ProofCase::require(const z3::expr& condition) {
  if (!right_) return assume(condition);
  if (!condition.simplify().is_true()) obligations_.push_back(condition);
}

std::int64_t ProofCase::literal(const z3::expr& e) const {
  const z3::expr simple = e.simplify();
  std::int64_t value = 0;
  if (!simple.is_numeral_i64(value))
    throw Unprovable("a number that must be known is not: " + simple.to_string());
  return value;
}

// Groups of neighbouring dims with equal products keep their numbers apart from each other.
Index ProofCase::same_place(const Index& index, const Index& from, const Index& to) {
  Index out;
  std::size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    std::size_t last_i = i, last_j = j;
    bool grouped = false;
    for (std::size_t size = 1; size <= from.size() + to.size() - i - j && !grouped; ++size) {
      for (std::size_t a = 0; a <= size && !grouped; ++a) {
        const std::size_t b = size - a;
        if (i + a > from.size() || j + b > to.size()) continue;
        const Index left(from.begin() + static_cast<std::ptrdiff_t>(i),
                         from.begin() + static_cast<std::ptrdiff_t>(i + a));
        const Index right(to.begin() + static_cast<std::ptrdiff_t>(j),
                          to.begin() + static_cast<std::ptrdiff_t>(j + b));
        if (!follows(product_of(context_, left) == product_of(context_, right))) continue;
        last_i = i + a;
        last_j = j + b;
        grouped = true;
      }
    }
    if (!grouped) {
      last_i = from.size();
      last_j = to.size();
    }
    const Index part(index.begin() + static_cast<std::ptrdiff_t>(i),
                     index.begin() + static_cast<std::ptrdiff_t>(last_i));
    const Index dims(from.begin() + static_cast<std::ptrdiff_t>(i),
                     from.begin() + static_cast<std::ptrdiff_t>(last_i));
    const Index wanted(to.begin() + static_cast<std::ptrdiff_t>(j),
                       to.begin() + static_cast<std::ptrdiff_t>(last_j));
    z3::expr number = number_of(part, dims);
    z3::expr inside = context_.bool_val(true);
    for (std::size_t d = 0; d < part.size(); ++d) inside = inside && part[d] >= 0 && part[d] < dims[d];
    const Index places = part.size() == 1 && wanted.size() == 1 ? part : split_number(number, wanted, inside);
    out.insert(out.end(), places.begin(), places.end());
    i = last_i;
    j = last_j;
  }
  return out;
}

// The row-major number of an index.
z3::expr ProofCase::number_of(const Index& index, const Index& dims) {
  z3::expr number = this->number(0);
  for (std::size_t d = 0; d < index.size(); ++d) number = number * dims[d] + index[d];
  number = number.simplify();
  merged_.emplace(number.to_string(), std::pair(index, dims));
  return number;
}

// A number that comes from a place inside a tensor of equally many elements has a place. Of other numbers (a
// window that reaches into padding) nothing is assumed: what is read there is guarded away.
Index ProofCase::split_number(const z3::expr& number, const Index& dims, const z3::expr& inside) {
  if (dims.empty()) return {};
  const auto merged = merged_.find(number.simplify().to_string());
  if (merged != merged_.end() && merged->second.second.size() == dims.size()) {
    bool same = true;
    for (std::size_t d = 0; d < dims.size() && same; ++d) same = follows(merged->second.second[d] == dims[d]);
    if (same) return merged->second.first;
  }
  // A constant would stand for one of the sum's terms: a sum's variable is renamed, what is assumed of it is
  // not.
  if (has_bound(number)) return divided(context_, number, dims);
  const std::string key = key_of(number, dims);
  const auto [held, is_new] = places_.try_emplace(key);
  Index& places = held->second;
  z3::expr value = this->number(0), fits = context_.bool_val(true);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (is_new) places.push_back(fresh("at"));
    fits = fits && places[d] >= 0 && places[d] < dims[d];
    value = value * dims[d] + places[d];
  }
  assume(z3::implies(inside, fits && value == number).simplify(),
         "a number inside a tensor is of a place in it");
  return places;
}

z3::expr product_of(z3::context& context, const Index& dims) {
  z3::expr product = context.int_val(1);
  for (const z3::expr& d : dims) product = product * d;
  return product.simplify();
}

}
