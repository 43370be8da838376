#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/exec/tiny_models.h"

namespace regraft::exec::testing {

using Ints = std::vector<std::int64_t>;

constexpr int kInt64 = ::onnx::TensorProto::INT64;
constexpr int kInt32 = ::onnx::TensorProto::INT32;
constexpr int kInt8 = ::onnx::TensorProto::INT8;
constexpr int kUint8 = ::onnx::TensorProto::UINT8;
constexpr int kBool = ::onnx::TensorProto::BOOL;

/// A small model around one op, for comparing the oracle with ONNX Runtime.
struct Case {
  std::string name;
  std::function<void(ModelBuilder&)> build;
};

/// x[2, 3, 4] -> y by one node, with attributes set by `finish`.
inline Case one_input(const std::string& op, const std::function<void(::onnx::NodeProto&)>& finish = {}) {
  return {op, [=](ModelBuilder& model) {
            model.input("x", {2, 3, 4}).output("y", {"", "", ""});
            ::onnx::NodeProto& node = model.node(op, {"x"}, {"y"});
            if (finish) finish(node);
          }};
}

inline Case two_inputs(const std::string& op, int result = ::onnx::TensorProto::FLOAT,
                       int operand = ::onnx::TensorProto::FLOAT) {
  return {op, [=](ModelBuilder& model) {
            model.input("a", {2, 3, 4}, operand).input("b", {3, 1}, operand).output("y", {2, 3, 4}, result);
            model.node(op, {"a", "b"}, {"y"});
          }};
}

/// x of a shape -> y by one node, with extra operands named in `operands`.
inline Case shaped(const std::string& name, const ModelBuilder::Shape& shape, const std::string& op,
                   const std::vector<std::string>& operands,
                   const std::function<void(ModelBuilder&, ::onnx::NodeProto&)>& finish, int rank,
                   int outputs = 1) {
  return {name, [=](ModelBuilder& model) {
            model.input("x", shape);
            std::vector<std::string> inputs{"x"}, results;
            inputs.insert(inputs.end(), operands.begin(), operands.end());
            for (int i = 0; i < outputs; ++i) {
              results.push_back("y" + std::to_string(i));
              model.output(results.back(),
                           ModelBuilder::Shape(static_cast<std::size_t>(rank), ModelBuilder::Axis("")));
            }
            finish(model, model.node(op, inputs, results));
          }};
}

inline std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 0.25f * static_cast<float>(i % 7) - 0.5f;
  return values;
}

using Node = ::onnx::NodeProto;

}
