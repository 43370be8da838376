#pragma once

#include <span>
#include <string_view>

#include "core/graph/op.h"

namespace regraft::graph {

/// The values that a text attribute of an op has in the standard; empty: the attribute is no text.
std::span<const std::string_view> known_texts(OpKind kind, Attr attr);

}
