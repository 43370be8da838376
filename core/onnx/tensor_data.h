#pragma once

// Internal to core/onnx: the elements of a TensorProto as little-endian bytes, whatever field holds them.

#include <onnx/onnx_pb.h>

#include <deque>
#include <span>
#include <vector>

#include "core/graph/types.h"
#include "core/onnx/payload.h"

namespace regraft::onnx {

struct TensorView {
  graph::TensorType type;  // static; dtypes newer than graph::DType keep their number
  std::span<const std::byte> bytes;
};

using ByteStore = std::deque<std::vector<std::byte>>;

/// `bytes` points into a payload, into `tensor` or into a new entry of `owned`. Strings are encoded as
/// length-prefixed texts. Throws OnnxError when dims and contents do not fit.
TensorView read_tensor(const ::onnx::TensorProto& tensor, const PayloadTable& payloads, ByteStore& owned);

/// Bytes a tensor of this type takes as raw_data; nothing for strings and for dtypes packed in ways we do not
/// know. Throws OnnxError on negative dims and on sizes past 2^63.
std::optional<std::uint64_t> raw_size_bytes(const ::onnx::TensorProto& tensor);

/// The constant of a Constant node, whatever attribute holds it; nothing for forms we do not know
/// (sparse_value).
std::optional<TensorView> read_constant(const ::onnx::NodeProto& node, const PayloadTable& payloads,
                                        ByteStore& owned);

}
