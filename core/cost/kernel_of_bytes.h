#pragma once

#include "core/cost/neighbourhood.h"

namespace regraft::cost {

/// The operation whose kernel of bytes does the work of a QuantizeLinear behind it, of a Relu or Clip between
/// them, or of a DequantizeLinear before it; else kNoNode. All that the operation reads comes from a
/// DequantizeLinear, but for the bias of a convolution or Gemm; what it makes goes into a QuantizeLinear
/// alone. A Relu or Clip may stand before that where bytes hold no more than it lets through. Bytes are
/// unsigned: the runtime makes signed ones so where one DequantizeLinear, with one reader, is all that reads
/// them.
graph::NodeId kernel_of_bytes(const Neighbourhood& near, graph::NodeId node);

}
