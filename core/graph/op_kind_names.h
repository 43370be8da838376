#pragma once

#include <string>
#include <vector>

namespace regraft::graph {

/// Names of the op table, in order: rows of a policy's embedding.
std::vector<std::string> op_kind_names();

}
