#pragma once

#include "core/corpus/net.h"

namespace regraft::corpus {

enum class Activation : std::uint8_t {
  none,
  relu,
  relu6,
  leaky_relu,
  gelu,
  gelu_tanh,
  silu,
  hard_swish,
  hard_sigmoid,
  sigmoid,
  tanh
};

/// One op, or several, as the dialect writes it.
Tensor activate(Net& net, const Tensor& x, Activation activation);

}
