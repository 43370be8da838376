#include "core/graph/types.h"

namespace regraft::graph {

bool TensorType::is_static() const {
  if (!ranked) return false;
  for (const Dim dim : dims)
    if (is_symbol(dim)) return false;
  return true;
}

std::optional<std::int64_t> TensorType::element_count() const {
  if (!is_static()) return std::nullopt;
  std::int64_t count = 1;
  for (const Dim dim : dims)
    if (__builtin_mul_overflow(count, dim, &count)) return std::nullopt;
  return count;
}

bool may_be_equal(const TensorType& a, const TensorType& b) {
  if (a.dtype != b.dtype) return false;
  if (!a.ranked || !b.ranked) return true;
  if (a.rank() != b.rank()) return false;
  for (std::size_t i = 0; i < a.rank(); ++i)
    if (a.dims[i] != b.dims[i] && !is_symbol(a.dims[i]) && !is_symbol(b.dims[i])) return false;
  return true;
}

}
