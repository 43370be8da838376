#pragma once

namespace regraft::nn {

enum class Engine {
  automatic,  // fused on the CPU, LibTorch on CUDA
  torch,      // the learner's own network: same bits as its forward pass
  fused,      // own kernels, CPU and widths 16, 32, 64 only: several times faster, equal within rounding
};

}
