#include "core/exec/runtime/runtime_message.h"

#include <gtest/gtest.h>

namespace regraft::exec {
namespace {

TEST(RuntimeMessage, NamesTheNodeAndWhatIsWrong) {
  EXPECT_EQ(
      runtime_message("Non-zero status code returned while running Conv node. Name:'c1' Status Message: "
                      "Invalid input shape: {0,5}"),
      "Conv 'c1': Invalid input shape: {0,5}");
}

TEST(RuntimeMessage, LeavesOutPlacesInTheRuntime) {
  EXPECT_EQ(
      runtime_message("Non-zero status code returned while running Reshape node. Name:'' Status Message: "
                      "/onnxruntime_src/onnxruntime/core/providers/cpu/tensor/reshape_helper.h:91 "
                      "onnxruntime::ReshapeHelper::ReshapeHelper(const onnxruntime::TensorShape&, bool) "
                      "input_shape_size == requested_shape_size was false. The input tensor cannot be "
                      "reshaped to the requested shape. Input shape:{16000}, requested shape:{7919,13}\n\n"),
      "Reshape: The input tensor cannot be reshaped to the requested shape. Input shape:{16000}, requested "
      "shape:{7919,13}");
  EXPECT_EQ(runtime_message("/onnxruntime_src/onnxruntime/core/graph/load.h:46 void onnxruntime::(anonymous "
                            "namespace)::validate(const std::string&, int) Opset 99 is under development.\n"),
            "Opset 99 is under development.");
}

TEST(RuntimeMessage, SaysOfAFileThatItCannotLoadWhatIsWrongWithIt) {
  EXPECT_EQ(runtime_message("Load model from /tmp/a b.onnx failed:Node (n) Op (Conv) Attribute strides"),
            "Node (n) Op (Conv) Attribute strides");
  EXPECT_EQ(runtime_message(
                "Load model from /tmp/m.onnx failed:/onnxruntime_src/onnxruntime/core/graph/graph.cc:1327 "
                "onnxruntime::Graph::Graph(const onnxruntime::Model&, bool) [ONNXRuntimeError] : 1 : FAIL : "
                "tensorprotoutils.cc:2265 ToTensorProto Constant node: has no data attributes\n"),
            "Constant node: has no data attributes");
  EXPECT_EQ(runtime_message(
                "/onnxruntime_src/onnxruntime/core/a.cc:1 void f(int) [ONNXRuntimeError] : 1 : FAIL : No "
                "such op"),
            "No such op");
  EXPECT_EQ(runtime_message("/onnxruntime_src/onnxruntime/core/a.cc:1 void f(int) [ONNXRuntimeError] : 1"),
            "[ONNXRuntimeError] : 1");
  EXPECT_EQ(
      runtime_message("Exception during initialization: /onnxruntime_src/onnxruntime/core/a.h:256 "
                      "Div<T>::Div(const Info&) [with T = int] b[i] != T{0} was false. Division by zero"),
      "Division by zero");
}

TEST(RuntimeMessage, KeepsWhatHasNoOtherWords) {
  const std::string bare = "/onnxruntime_src/onnxruntime/core/graph/load.h:46 void f(int)";
  EXPECT_EQ(runtime_message(bare), bare);
  EXPECT_EQ(runtime_message("No Op registered\nfor NoOp2"), "No Op registered for NoOp2");
  EXPECT_EQ(runtime_message(""), "");
}

}  // namespace
}
