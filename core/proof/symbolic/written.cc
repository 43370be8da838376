#include "core/proof/symbolic/written.h"

#include <algorithm>

namespace regraft::proof {
namespace {

WrittenRef made(Written value) {
  const bool whole = std::ranges::all_of(value.args, [](const WrittenRef& part) { return part != nullptr; });
  return whole ? std::make_shared<const Written>(std::move(value)) : nullptr;
}

}  // namespace

WrittenRef Written::number(std::int64_t numerator, std::int64_t denominator) {
  return made({Form::number, numerator, denominator, {}, {}, {}});
}

WrittenRef Written::atom(std::string name, std::vector<z3::expr> index, std::vector<WrittenRef> args) {
  return made({Form::atom, 0, 1, std::move(name), std::move(index), std::move(args)});
}

WrittenRef Written::of(Form form, std::vector<z3::expr> index, std::vector<WrittenRef> args) {
  return made({form, 0, 1, {}, std::move(index), std::move(args)});
}

}
