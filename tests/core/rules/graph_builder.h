#pragma once

#include "core/rules/example_builder.h"

namespace regraft::rules::testing {

using graph::Attr;
using graph::AttrBlock;
using graph::NodeId;
using graph::OpKind;
using graph::Value;
using rules::GraphBuilder;

}  // namespace regraft::rules::testing
