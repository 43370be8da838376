#pragma once

#include <string>
#include <vector>

#include "core/rulegen/taso/taso_file.h"

namespace regraft::rulegen::testing {

/// Writes TASO rule files: the reader's counterpart, for tests.
inline void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}
inline void put_number(std::string& out, std::uint64_t field, std::int64_t value) {
  put_varint(out, field << 3);
  put_varint(out, static_cast<std::uint64_t>(value));
}
inline void put_message(std::string& out, std::uint64_t field, const std::string& message) {
  put_varint(out, field << 3 | 2);
  put_varint(out, message.size());
  out += message;
}

inline std::string taso_bytes(const std::vector<TasoRule>& rules) {
  std::string file;
  for (const TasoRule& rule : rules) {
    std::string message;
    for (const auto* side : {&rule.source, &rule.target}) {
      for (const TasoOp& op : *side) {
        std::string part;
        put_number(part, 1, op.type);
        for (const TasoTensor& input : op.inputs) {
          std::string tensor;
          put_number(tensor, 1, input.op);
          put_number(tensor, 2, input.port);
          put_message(part, 2, tensor);
        }
        for (const auto& [key, value] : op.parameters) {
          std::string parameter;
          put_number(parameter, 1, key);
          put_number(parameter, 2, value);
          put_message(part, 3, parameter);
        }
        put_message(message, side == &rule.source ? 1 : 2, part);
      }
    }
    for (const TasoOutput& output : rule.outputs) {
      std::string part;
      put_number(part, 1, output.source.op);
      put_number(part, 2, output.target.op);
      put_number(part, 3, output.source.port);
      put_number(part, 4, output.target.port);
      put_message(message, 3, part);
    }
    put_message(file, 1, message);
  }
  return file;
}

inline TasoOp taso_op(TasoType type, const std::vector<int>& inputs,
                      const std::vector<std::pair<TasoKey, int>>& parameters = {}) {
  TasoOp op;
  op.type = static_cast<std::int32_t>(type);
  for (int input : inputs) op.inputs.push_back({input, 0});
  for (const auto& [key, value] : parameters)
    op.parameters.emplace_back(static_cast<std::int32_t>(key), value);
  return op;
}
inline TasoOp taso_matmul(int a, int b) {
  return taso_op(TasoType::matmul, {a, b}, {{TasoKey::activation, 0}});
}
inline TasoOp taso_conv(int x, int w, int activation = 0) {
  return taso_op(TasoType::conv, {x, w},
                 {{TasoKey::kernel_height, 3},
                  {TasoKey::kernel_width, 3},
                  {TasoKey::stride_height, 1},
                  {TasoKey::stride_width, 1},
                  {TasoKey::padding, 0},
                  {TasoKey::activation, activation}});
}
inline TasoOp taso_concat(int a, int b, int axis, int rank) {
  return taso_op(TasoType::concat, {a, b}, {{TasoKey::axis, axis}, {TasoKey::rank, rank}});
}
/// One output: that of the last op of each side.
inline TasoRule taso_rule(std::vector<TasoOp> source, std::vector<TasoOp> target) {
  const TasoOutput output{{static_cast<int>(source.size()) - 1, 0}, {static_cast<int>(target.size()) - 1, 0}};
  return {std::move(source), std::move(target), {output}};
}

}
