#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace regraft::rulegen {

/// TASO's rule files (graph_subst.pb; Jia et al., SOSP 2019) as they are stored: protobuf messages
///   RuleCollection { repeated Rule rule = 1; }
///   Rule { repeated Operator srcOp = 1; repeated Operator dstOp = 2; repeated MapOutput mappedOutput = 3; }
///   Operator { int32 type = 1; repeated Tensor input = 2; repeated Parameter para = 3; }
///   Tensor { int32 opId = 1; int32 tsId = 2; }          opId < 0: a variable
///   Parameter { int32 key = 1; int32 value = 2; }
///   MapOutput { int32 srcOpId = 1; int32 dstOpId = 2; int32 srcTsId = 3; int32 dstTsId = 4; }
struct TasoTensor {
  std::int32_t op = 0;
  std::int32_t port = 0;
};

/// Numbers of TASO's enum OpType, of those that are imported.
enum class TasoType : std::int32_t {
  conv = 3,
  relu = 8,
  sigmoid = 9,
  tanh = 10,
  concat = 12,
  split = 13,
  transpose = 15,
  add = 16,
  multiply = 17,
  matmul = 18,
  scale = 19
};

/// Numbers of TASO's enum PMParameter.
enum class TasoKey : std::int32_t {
  outputs = 2,
  kernel_height = 4,
  kernel_width = 5,
  stride_height = 6,
  stride_width = 7,
  padding = 8,     // 0 same, 1 valid
  activation = 9,  // 0 none, 1 sigmoid, 2 relu, 3 tanh
  rank = 10,
  axis = 11,
  permutation = 12,
  shuffle = 13
};

struct TasoOp {
  std::int32_t type = 0;
  std::vector<TasoTensor> inputs;
  std::vector<std::pair<std::int32_t, std::int32_t>> parameters;

  /// The parameter of that key. Throws RulegenError where the op has none.
  std::int32_t parameter(TasoKey key) const;
};

struct TasoOutput {
  TasoTensor source, target;
};

struct TasoRule {
  std::vector<TasoOp> source, target;
  std::vector<TasoOutput> outputs;
};

/// Throws RulegenError with `where` and the offset for bytes that are no such file. They have a length past
/// the end, an unknown wire type, a field of another type, or a reference to an op that does not come before.
/// Unknown fields are errors, so that a file of another kind is not taken for an empty one.
std::vector<TasoRule> read_taso_rules(std::span<const std::byte> bytes, const std::string& where);

}
