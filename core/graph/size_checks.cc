#include "core/graph/size_checks.h"

#include <limits>
#include <string>

namespace regraft::graph {

void fail(const OpInfo& op, const std::string& problem) {
  throw GraphError(problem, std::string(op.name), "");
}

std::int64_t narrow(const OpInfo& op, Wide size) {
  if (size < std::numeric_limits<std::int64_t>::min() || size > std::numeric_limits<std::int64_t>::max())
    fail(op, "a size does not fit 64 bits");
  return static_cast<std::int64_t>(size);
}

}
