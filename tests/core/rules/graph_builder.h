#pragma once

#include "core/graph/graph_builder.h"

namespace regraft::rules::testing {

using graph::Attr;
using graph::AttrBlock;
using graph::GraphBuilder;
using graph::NodeId;
using graph::OpKind;
using graph::Value;

}
