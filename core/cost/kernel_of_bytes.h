#pragma once

#include "core/cost/neighbourhood.h"

namespace regraft::cost {

/// The operation whose kernel of bytes does the work of a QuantizeLinear behind it, or of a DequantizeLinear
/// before it; else kNoNode. All that the operation reads comes from a DequantizeLinear, what it makes goes
/// into a QuantizeLinear alone, and bytes are unsigned. The runtime makes signed ones so where one
/// DequantizeLinear, with one reader, is all that reads them.
graph::NodeId kernel_of_bytes(const Neighbourhood& near, graph::NodeId node);

}
