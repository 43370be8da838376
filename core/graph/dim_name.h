#pragma once

#include <string_view>

namespace regraft::graph {

/// Whether a model calls a dim by a name. Exporters write "?", "None" or "-1" for dims that they do not know,
/// and two of them need not be equal.
bool is_dim_name(std::string_view text);

}
