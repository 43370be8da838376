#pragma once

#include "core/graph/graph.h"

namespace regraft::onnx {

/// A value that the model computes but that is the same in every run, and the constant that it equals.
struct KnownValue {
  graph::Value value;
  graph::WeightId weight;
};

}
