#pragma once

#include <string>
#include <vector>

#include "core/exec/site/oracle_case.h"

namespace regraft::exec::testing {

struct Cases : std::vector<Case> {
  void add(std::string name, std::function<void(ModelBuilder&)> build) {
    push_back({std::move(name), std::move(build)});
  }
};

inline std::vector<Case> elementwise_cases() {
  Cases cases;
  for (const char* op :
       {"Relu", "LeakyRelu", "Elu",  "Sigmoid", "HardSigmoid", "HardSwish", "Tanh", "Softplus",
        "Erf",  "Exp",       "Sqrt", "Log",     "Reciprocal",  "Neg",       "Abs",  "Floor",
        "Ceil", "Round",     "Sign", "Sin",     "Cos",         "Identity"}) {
    cases.push_back(one_input(op));
  }
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "PRelu"})
    cases.push_back(two_inputs(op));
  for (const char* op : {"Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"}) {
    cases.push_back(two_inputs(op, kBool));
  }
  for (const char* op : {"And", "Or"}) cases.push_back(two_inputs(op, kBool, kBool));
  cases.add("PowOfSquare", [](ModelBuilder& model) {
    model.input("x", {5}).output("y", {5}).weight("two", {}, {2});
    model.node("Pow", {"x", "two"}, {"y"});
  });
  cases.add("IntegerDiv", [](ModelBuilder& model) {
    model.input("x", {5}, kInt64).output("y", {5}, kInt64).integers("d", {-3});
    model.node("Div", {"x", "d"}, {"y"});
  });
  cases.add("Not", [](ModelBuilder& model) {
    model.input("x", {5}, kBool).output("y", {5}, kBool);
    model.node("Not", {"x"}, {"y"});
  });
  cases.add("ClipWhereCast", [](ModelBuilder& model) {
    model.input("x", {3, 4}).input("c", {4}, kBool).output("y", {3, 4}).output("n", {3, 4}, kInt64);
    model.weight("low", {}, {-0.5f}).weight("high", {}, {0.75f});
    model.node("Clip", {"x", "low", "high"}, {"k"});
    model.node("Where", {"c", "k", "x"}, {"y"});
    set_int(model.node("Cast", {"x"}, {"n"}), "to", kInt64);
  });
  return cases;
}

inline std::vector<Case> linear_cases() {
  Cases cases;
  cases.add("MatMul", [](ModelBuilder& model) {
    model.input("a", {2, 1, 3, 4}).input("b", {5, 4, 6}).output("y", {2, 5, 3, 6});
    model.node("MatMul", {"a", "b"}, {"y"});
  });
  cases.add("Einsum", [](ModelBuilder& model) {
    model.input("a", {2, 3, 4}).input("b", {5, 2, 4}).output("y", {2, 5, 3});
    set_text(model.node("Einsum", {"a", "b"}, {"y"}), "equation", "bic, jbc -> bji");
  });
  for (const bool lstm : {true, false}) {
    const int rows = lstm ? 12 : 9;
    cases.add(lstm ? "LSTM" : "GRU", [lstm, rows](ModelBuilder& model) {
      model.input("x", {4, 2, 5}).input("h", {1, 2, 3}).input("c", {1, 2, 3});
      model.input("w", {1, rows, 5}).input("r", {1, rows, 3}).input("b", {1, 2 * rows});
      model.output("y", {4, 1, 2, 3}).output("k", {1, 2, 3}).output("l", {1, 2, 3});
      Node& node = lstm ? model.node("LSTM", {"x", "w", "r", "b", "", "h", "c"}, {"y", "k", "l"})
                        : model.node("GRU", {"x", "w", "r", "b", "", "h"}, {"y", "k"});
      set_int(node, "hidden_size", 3);
      if (lstm) return;
      set_int(node, "linear_before_reset", 1);
      model.node("Identity", {"c"}, {"l"});
    });
  }
  cases.add("Gemm", [](ModelBuilder& model) {
    model.input("a", {4, 3}).input("b", {5, 4}).input("c", {5}).output("y", {3, 5});
    Node& node = model.node("Gemm", {"a", "b", "c"}, {"y"});
    set_int(node, "transA", 1), set_int(node, "transB", 1);
    set_float(node, "alpha", 0.5f), set_float(node, "beta", 2);
  });
  cases.push_back(shaped(
      "GroupedConv", {2, 4, 7, 9}, "Conv", {"w", "b"},
      [](ModelBuilder& model, Node& node) {
        model.weight("w", {6, 2, 3, 2}, ramp(72)).weight("b", {6}, ramp(6));
        set_ints(node, "pads", {1, 0, 2, 1}), set_ints(node, "strides", {2, 1});
        set_ints(node, "dilations", {1, 3}), set_int(node, "group", 2);
      },
      4));
  cases.push_back(shaped(
      "ConvTranspose", {1, 4, 5, 3}, "ConvTranspose", {"w", "b"},
      [](ModelBuilder& model, Node& node) {
        model.weight("w", {4, 3, 3, 3}, ramp(108)).weight("b", {6}, ramp(6));
        set_ints(node, "pads", {1, 0, 0, 1}), set_ints(node, "strides", {2, 3});
        set_ints(node, "output_padding", {1, 2}), set_int(node, "group", 2);
      },
      4));
  cases.push_back(shaped(
      "BatchNormalization", {2, 3, 4}, "BatchNormalization", {"s", "b", "m", "v"},
      [](ModelBuilder& model, Node& node) {
        model.weight("s", {3}, {1, 2, 3}).weight("b", {3}, {0.5f, 0, 1}).weight("m", {3}, {0.1f, 0.2f, 0});
        model.weight("v", {3}, {1, 0.5f, 2});
        set_float(node, "epsilon", 1e-3f);
      },
      3));
  cases.push_back(shaped(
      "LayerNormalization", {2, 3, 4}, "LayerNormalization", {"s", "b"},
      [](ModelBuilder& model, Node& node) {
        model.weight("s", {3, 4}, ramp(12)).weight("b", {3, 4}, ramp(12));
        set_int(node, "axis", 1);
      },
      3));
  cases.push_back(shaped(
      "InstanceNormalization", {2, 3, 4, 5}, "InstanceNormalization", {"s", "b"},
      [](ModelBuilder& model, Node&) { model.weight("s", {3}, ramp(3)).weight("b", {3}, ramp(3)); }, 4));
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    cases.push_back(one_input(op, [](Node& node) { set_int(node, "axis", 1); }));
  }
  for (const char* op : {"ReduceMean", "ReduceMax", "ReduceMin"}) {
    cases.push_back(one_input(op, [](Node& node) { set_ints(node, "axes", {0, -1}); }));
  }
  cases.push_back(shaped(
      "ReduceSum", {2, 3, 4}, "ReduceSum", {"axes"},
      [](ModelBuilder& model, Node& node) {
        model.integers("axes", {1});
        set_int(node, "keepdims", 0);
      },
      2));
  return cases;
}

inline std::vector<Case> pool_cases() {
  Cases cases;
  for (const std::int64_t ceil_mode : {0, 1}) {
    const std::string suffix = ceil_mode != 0 ? "Ceil" : "";
    cases.push_back(shaped(
        "MaxPool" + suffix, {1, 2, 8, 7}, "MaxPool", {},
        [=](ModelBuilder&, Node& node) {
          set_ints(node, "kernel_shape", {3, 2}), set_ints(node, "strides", {2, 3}),
              set_ints(node, "pads", {1, 0, 1, 1});
          set_int(node, "ceil_mode", ceil_mode);
        },
        4));
    for (const std::int64_t counted : {0, 1}) {
      const std::string name = "AveragePool" + suffix + (counted != 0 ? "Padded" : "");
      cases.push_back(shaped(
          name, {1, 2, 8, 9}, "AveragePool", {},
          [=](ModelBuilder&, Node& node) {
            set_ints(node, "kernel_shape", {3, 3}), set_ints(node, "strides", {2, 2}),
                set_ints(node, "pads", {1, 1, 1, 1});
            set_int(node, "ceil_mode", ceil_mode), set_int(node, "count_include_pad", counted);
          },
          4));
    }
  }
  cases.push_back(shaped(
      "MaxPoolDilated", {1, 2, 11}, "MaxPool", {},
      [](ModelBuilder&, Node& node) {
        set_ints(node, "kernel_shape", {3}), set_ints(node, "dilations", {2});
      },
      3));
  cases.push_back(one_input("GlobalAveragePool"));
  cases.push_back(one_input("GlobalMaxPool"));
  return cases;
}

inline std::vector<Case> movement_cases() {
  Cases cases;
  cases.push_back(shaped(
      "Reshape", {2, 3, 4}, "Reshape", {"s"},
      [](ModelBuilder& model, Node&) {
        model.integers("s", {0, -1, 2});
      },
      3));
  cases.add("Flatten", [](ModelBuilder& model) {
    model.input("x", {2, 3, 4}).output("y", {6, 4});
    set_int(model.node("Flatten", {"x"}, {"y"}), "axis", 2);
  });
  cases.push_back(one_input("Transpose", [](Node& node) { set_ints(node, "perm", {2, 0, 1}); }));
  cases.push_back(shaped(
      "SqueezeUnsqueeze", {2, 1, 4}, "Squeeze", {"a"},
      [](ModelBuilder& model, Node& node) {
        model.integers("a", {1}).integers("b", {0, -1});
        node.set_output(0, "s");
        model.node("Unsqueeze", {"s", "b"}, {"y0"});
      },
      4));
  cases.add("Concat", [](ModelBuilder& model) {
    model.input("a", {2, 3}).input("b", {2, 5}).output("y", {2, 11});
    set_int(model.node("Concat", {"a", "b", "a"}, {"y"}), "axis", -1);
  });
  cases.push_back(shaped(
      "Split", {2, 7}, "Split", {"s"},
      [](ModelBuilder& model, Node& node) {
        model.integers("s", {4, 3});
        set_int(node, "axis", 1);
      },
      2, 2));
  cases.push_back(shaped(
      "Slice", {5, 7}, "Slice", {"from", "to", "axes", "steps"},
      [](ModelBuilder& model, Node&) {
        model.integers("from", {1, -6})
            .integers("to", {1000, 6})
            .integers("axes", {0, 1})
            .integers("steps", {1, 2});
      },
      2));
  for (const char* mode : {"constant", "edge", "reflect"}) {
    cases.push_back(shaped(
        std::string("Pad_") + mode, {3, 4}, "Pad", {"p"},
        [=](ModelBuilder& model, Node& node) {
          model.integers("p", {1, 0, 2, 3});
          set_text(node, "mode", mode);
        },
        2));
  }
  cases.push_back(shaped(
      "Expand", {3, 1}, "Expand", {"s"},
      [](ModelBuilder& model, Node&) {
        model.integers("s", {2, 1, 4});
      },
      3));
  cases.push_back(shaped(
      "Tile", {3, 2}, "Tile", {"r"},
      [](ModelBuilder& model, Node&) {
        model.integers("r", {2, 3});
      },
      2));
  cases.add("Shape", [](ModelBuilder& model) {
    model.input("x", {3, 4}).output("y", {2}, kInt64);
    model.node("Shape", {"x"}, {"y"});
  });
  return cases;
}

inline std::vector<Case> gather_cases() {
  Cases cases;
  cases.add("Gather", [](ModelBuilder& model) {
    model.input("x", {2, 5, 3}).input("i", {2, 2}, kInt64).output("y", {2, 2, 2, 3});
    model.weight("table", {2, 5, 3}, ramp(30));
    model.node("Add", {"x", "table"}, {"sum"});
    auto& info = *model.graph().add_value_info();
    info.CopyFrom(model.graph().input(0));
    info.set_name("sum");
    set_int(model.node("Gather", {"sum", "i"}, {"y"}), "axis", 1);
  });
  cases.add("GatherFromTheEnd", [](ModelBuilder& model) {
    model.input("x", {2, 5}).output("y", {2, 2}).integers("i", {-1, 1});
    set_int(model.node("Gather", {"x", "i"}, {"y"}), "axis", 1);
  });
  cases.add("GatherElements", [](ModelBuilder& model) {
    model.input("x", {3, 2}).input("i", {1, 2}, kInt64).output("y", {1, 2});
    model.node("GatherElements", {"x", "i"}, {"y"});
  });
  return cases;
}

/// MultiHeadAttention of com.microsoft with some of its optional operands, four heads.
inline Case attention_case(const std::string& name, const std::vector<std::string>& optional,
                           const std::function<void(ModelBuilder&, Node&)>& finish) {
  return {name, [=](ModelBuilder& model) {
            model.import_domain("com.microsoft").input("q", {2, 3, 8}).input("k", {2, 5, 8});
            model.input("v", {2, 5, 12}).output("y", {2, 3, 12});
            std::vector<std::string> inputs{"q", "k", "v"};
            inputs.insert(inputs.end(), optional.begin(), optional.end());
            Node& node = model.node("MultiHeadAttention", inputs, {"y"});
            node.set_domain("com.microsoft");
            set_int(node, "num_heads", 4);
            finish(model, node);
          }};
}

inline std::vector<Case> attention_cases() {
  Cases cases;
  cases.push_back(attention_case("Attention", {}, [](ModelBuilder&, Node&) {}));
  cases.push_back(attention_case("AttentionScaled", {},
                                 [](ModelBuilder&, Node& node) { set_float(node, "scale", -0.7f); }));
  cases.push_back(attention_case("AttentionBiased", {"b"},
                                 [](ModelBuilder& model, Node&) { model.weight("b", {28}, ramp(28)); }));
  cases.push_back(attention_case("AttentionMasked", {"", "", "m"}, [](ModelBuilder& model, Node&) {
    model.input("m", {1, 1, 3, 5});
  }));
  cases.push_back(
      attention_case("AttentionOfHeadsMasked", {"", "", "m"}, [](ModelBuilder& model, Node& node) {
        model.input("m", {2, 4, 3, 5});
        set_float(node, "scale", 0.25f);
      }));
  cases.add("AttentionOfOneQuery", [](ModelBuilder& model) {
    model.import_domain("com.microsoft").input("q", {2, 1, 8}).input("k", {2, 5, 8});
    model.output("y", {2, 1, 8});
    Node& node = model.node("MultiHeadAttention", {"q", "k", "k"}, {"y"});
    node.set_domain("com.microsoft");
    set_int(node, "num_heads", 2);
  });
  return cases;
}

/// Only where elements are repeated is a Resize known: by factors, by sizes, and with dims that stay.
inline std::vector<Case> resize_cases() {
  Cases cases;
  for (const char* mode : {"asymmetric", "half_pixel", "pytorch_half_pixel"}) {
    cases.push_back(shaped(
        std::string("Resize_") + mode, {2, 3, 1, 1}, "Resize", {"", "f"},
        [=](ModelBuilder& model, Node& node) {
          model.weight("f", {4}, {1, 1, 4, 7});
          set_text(node, "mode", "nearest"), set_text(node, "coordinate_transformation_mode", mode);
        },
        4));
    cases.push_back(shaped(
        std::string("ResizeToSizes_") + mode, {2, 3, 1, 5}, "Resize", {"", "", "s"},
        [=](ModelBuilder& model, Node& node) {
          model.integers("s", {2, 3, 4, 5});
          set_text(node, "coordinate_transformation_mode", mode);
        },
        4));
  }
  return cases;
}

/// Ops of later opsets, and those that models compute shapes and types with.
inline std::vector<Case> other_cases() {
  Cases cases;
  for (const char* approximate : {"none", "tanh"})
    cases.add(std::string("Gelu_") + approximate, [=](ModelBuilder& model) {
      model.opset(20).input("x", {2, 3}).output("y", {2, 3});
      set_text(model.node("Gelu", {"x"}, {"y"}), "approximate", approximate);
    });
  cases.add("CastLike", [](ModelBuilder& model) {
    model.input("x", {2, 3}).input("t", {1}, kInt64).output("y", {2, 3}, kInt64);
    model.node("CastLike", {"x", "t"}, {"y"});
  });
  cases.add("ConstantOfShape", [](ModelBuilder& model) {
    model.input("x", {2, 3}).output("y", {2, 3});
    model.node("Shape", {"x"}, {"s"});
    model.node("ConstantOfShape", {"s"}, {"y"});
  });
  return cases;
}

/// Scales and zero points: one for all, one for each place along an axis, none.
inline std::vector<Case> quantised_cases() {
  Cases cases;
  cases.add("DequantizeLinear", [](ModelBuilder& model) {
    model.input("x", {2, 3, 4}, kUint8).input("z", {}, kUint8).output("y", {2, 3, 4});
    model.weight("s", {}, {0.25f});
    model.node("DequantizeLinear", {"x", "s", "z"}, {"y"});
  });
  cases.add("DequantizeLinearByAxis", [](ModelBuilder& model) {
    model.input("x", {2, 3, 4}, kInt8).input("z", {3}, kInt8).output("y", {2, 3, 4});
    model.weight("s", {3}, {0.25f, 1, 0.5f});
    set_int(model.node("DequantizeLinear", {"x", "s", "z"}, {"y"}), "axis", -2);
  });
  cases.add("DequantizeLinearOfSums", [](ModelBuilder& model) {
    model.input("x", {2, 3}, kInt32).output("y", {2, 3}).weight("s", {1}, {0.5f});
    model.node("DequantizeLinear", {"x", "s"}, {"y"});
  });
  for (const int bytes : {kUint8, kInt8}) {
    cases.add(bytes == kInt8 ? "QuantizeLinearSigned" : "QuantizeLinear", [=](ModelBuilder& model) {
      model.input("x", {2, 30}).input("z", {}, bytes).output("y", {2, 30}, bytes);
      model.weight("s", {}, {0.0123f});
      model.node("QuantizeLinear", {"x", "s", "z"}, {"y"});
    });
  }
  cases.add("QuantizeLinearByAxis", [](ModelBuilder& model) {
    model.input("x", {2, 3, 4}).output("y", {2, 3, 4}, kUint8);
    model.weight("s", {3}, {0.0123f, 0.11f, 0.0045f});
    model.node("QuantizeLinear", {"x", "s"}, {"y"});
  });
  return cases;
}

inline std::vector<Case> all_cases() {
  Cases cases;
  for (const auto& part :
       {elementwise_cases(), linear_cases(), pool_cases(), movement_cases(), gather_cases(),
        attention_cases(), resize_cases(), other_cases(), quantised_cases()}) {
    cases.insert(cases.end(), part.begin(), part.end());
  }
  return cases;
}

}
