#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace regraft::exec {

/// One operation on its own: what a kernel is measured with.
struct GridKernel {
  struct Operand {
    std::vector<std::int64_t> dims;
    bool constant = false;
    std::int64_t elements() const;
  };
  std::string op;
  std::vector<Operand> inputs;
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> attributes;

  std::string text() const;  // "MatMul [1,8,64] const[64,64]"
};

/// Reads kernels in all of their sizes, a line each (configs/devices/calibration.kernels):
///     MatMul x[1,M,K] W[K,N] | M=1,8,64 K=64,256 N=64
///     Conv x[1,C,56,56] W[C,1,3,3] group=C pads=1,1,1,1 | C=32,128
/// Operands in capitals are constants. # begins a comment. Throws UsageError naming the line.
std::vector<GridKernel> parse_kernel_grid(std::string_view text, const std::string& source);

/// Writes kernels from `first` on as one float32 model in which they do not depend on each other: as many as
/// its tensors may take `most_bytes`, at least one. Returns the place of the first that is left.
std::size_t write_kernels(const std::vector<GridKernel>& kernels, std::size_t first, double most_bytes,
                          const std::filesystem::path& file);

}
