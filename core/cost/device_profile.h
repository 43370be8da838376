#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/cost/measured_kernels.h"
#include "core/graph/op.h"

namespace regraft::cost {

class FusedPatterns;

/// What a runtime makes one kernel of, beside the operations in parts of DeviceProfile::fusions.
enum class Fusing : std::uint8_t {
  as_onnxruntime,  // FusionRules has it
  elementwise,     // what makes a value and the elementwise operation that alone reads it
  nothing,  // times of operations are summed, those in parts too: as TASO costs graphs (Jia et al. 2019)
};

/// What the analytic cost knows of a runtime on a device: one TOML file of configs/devices, every key
/// required. Rates are of one session at its thread count. ns and us are nanoseconds and microseconds.
struct DeviceProfile {
  std::string name;
  std::string runtime;  // that the rates are of: configs/runtimes/RUNTIME-VERSION.fusions says what it fuses

  // [kernel]
  double launch_us = 0;         // overhead of starting one kernel
  double linear_launch_us = 0;  // the same for a matmul or convolution
  double fused_pass_us = 0;     // an Add or activation that a matmul does on its output
  double view_us = 0;           // the same for one that moves nothing (Reshape, Squeeze)

  // [memory]
  double near_bytes = 0;  // tensors of a kernel together up to this size stay in the core's own cache (L2)
  double resident_bytes = 0;    // weights of the whole model up to this size stay in cache between runs (L3)
  double streamed_bytes = 0;    // from this size on all come from memory; between the two a part
  double near_ns_per_byte = 0;  // elementwise traffic within near_bytes
  double far_ns_per_byte = 0;   // elementwise traffic beyond
  double spill_ns = 0;          // an output element of a matmul whose output is larger than near_bytes

  // [gemm]
  double gemm_gflops = 0;         // large matrix products
  double int8_gflops = 0;         // the same of 8-bit integers
  double gemv_resident_gbps = 0;  // weights read by a product of few rows, in cache
  double gemv_streamed_gbps = 0;  // the same from memory, one row
  double weights_streamed_gbps =
      0;  // weights from memory in products of more rows and convolutions, beside the arithmetic
  double column_block = 0;        // columns of a product are padded to multiples of this
  double pack_ns = 0;             // an element of a right operand that is not constant
  double product_ns = 0;          // each product of a batch, behind the first
  double alias_stride_bytes = 0;  // rows of the left operand at multiples of this collide in the cache
  double alias_slowdown = 0;      // factor on the arithmetic then
  double alias_min_rows = 0;      // with at least this many rows

  // [conv]
  double channel_block = 0;      // channels of the blocked layout (NCHWc)
  double channel_alignment = 0;  // input channels must be a multiple of this for the blocked layout
  double conv_gflops = 0;        // blocked
  double first_conv_gflops = 0;  // fewer input channels than one block, read as NCHW
  double depthwise_gflops = 0;   // blocked
  double im2col_ns = 0;          // an element unrolled by a convolution that is not blocked, stride 1
  double im2col_strided_ns = 0;  // the same, other strides
  double conv_output_ns = 0;     // an output element
  double conv_sum_ns = 0;        // an element added by a fused Add
  double reorder_ns = 0;         // an element going between NCHW and the blocked layout
  double window_ns = 0;          // an element of a pooling window
  double window_1d_ns = 0;       // the same along one dim

  // [element]
  double layer_norm_ns = 0;
  double skip_layer_norm_ns = 0;  // Add and LayerNormalization in one kernel
  double softmax_ns = 0;
  double quantised_softmax_ns = 0;  // of 8 bits, one kernel with what is before and behind it
  double gelu_ns = 0;               // the runtime's fused Gelu
  double silu_ns = 0;               // x * Sigmoid(x) in one kernel (QuickGelu), beyond a product
  double batch_norm_ns = 0;
  double reduce_ns = 0;          // an input element
  double reduce_rows_ns = 0;     // the same across the rows of a lone matrix
  double reduce_group_ns = 0;    // each matrix across whose rows it goes
  double reduce_extreme_ns = 0;  // an input element of a ReduceMax or ReduceMin across rows
  double copy_ns = 0;            // an element moved in runs (Concat, Split, Slice...)
  double chunk_ns = 0;           // each run
  double transpose_ns = 0;       // an element of a transpose that moves one axis, the last one too
  double scattered_ns = 0;       // the same where several axes move, the last one among them
  double step_ns = 0;            // an element taken from a row by steps
  double square_ns = 0;          // arithmetic of an element of Pow by a constant 2 or 3
  double resize_ns = 0;          // an element of a Resize, beside its traffic

  // [attention]: attention as one operation, beside the moving of heads
  double attention_gflops = 0;    // its products
  double attention_score_ns = 0;  // a score, where nothing is added to the scores
  double attention_added_ns = 0;  // a score, where something is

  // [elementwise]: arithmetic of one element beside its traffic, by ONNX op name; "default" for the others
  std::array<double, graph::kOpKinds> elementwise_ns{};

  // [recurrent]: LSTM, GRU and RNN, beside their products
  double recurrent_step_us = 0;  // each step of one direction

  // [opaque]: one unit of the work of an op of core/graph/opaque_work.h, beside its traffic or products; by
  // its name, "default" for the others
  std::map<std::string, double, std::less<>> opaque_ns;
  double opaque_default_ns = 0;

  // Not of the file: operations in parts that are one kernel there; load_device reads them.
  std::shared_ptr<const FusedPatterns> fusions;
  std::string fusions_version;  // of the runtime that fuses so; empty: any
  // Known of a model, not of the device: whether the runtime knows which symbolic dims are equal, where a
  // fusion asks. As a rule not, since it does not follow shapes that are computed.
  bool infers_symbols = false;
  // What was measured on this machine, if anything. It corrects the times that follow from
  // the rates.
  std::shared_ptr<const MeasuredKernels> measured;
  Fusing fusing = Fusing::as_onnxruntime;
};

/// With the fusions of this version of its runtime, else of the nearest one (core/cost/fusion_files.h).
/// Throws CostError naming the file (and line), the key and its range: on a missing or unknown key, a wrong
/// type, a value out of range, an op that is not elementwise. Throws FileError when it, or what its runtime
/// fuses, cannot be read, and rules::RuleError where that is no pattern.
DeviceProfile load_device(const std::filesystem::path& path, const std::string& runtime_version = "");
/// The same from text, without the fusions; `source` names it in errors.
DeviceProfile parse_device(std::string_view toml, const std::string& source);

}
