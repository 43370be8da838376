#include "core/graph/op_kind_names.h"

#include "core/graph/op.h"

namespace regraft::graph {

std::vector<std::string> op_kind_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kOpKinds; ++i) names.emplace_back(op_info(static_cast<OpKind>(i)).name);
  return names;
}

}
