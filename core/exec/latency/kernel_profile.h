#pragma once

#include <filesystem>
#include <istream>
#include <string>
#include <vector>

#include "core/base/other_load.h"
#include "core/exec/inputs/feed.h"

namespace regraft::exec {

/// One kernel of an optimised model, as ONNX Runtime ran it, or as another runtime's counters have it; or a
/// node of the model, as LibTorch runs it.
struct KernelTime {
  std::string node;                      // the runtime's name of the (possibly fused) node
  std::string op;                        // after fusion: "FusedConv", "SkipLayerNormalization"
  std::vector<std::string> input_types;  // "float[1,768]"; activations only
  double time_us = 0;                    // of a run: the interquartile mean of an execution, times executions
  double executions = 1;                 // in a run; another number in the body of an If, Loop or Scan
  // The values it makes, as the runtime calls them, and the one behind the Reshape that alone reads it; empty
  // where they are not known.
  std::vector<std::string> outputs = {};
  std::string reshaped = {};
  // All values that are made in it, where the runtime says of several operations that they are one kernel.
  std::vector<std::string> within = {};
};

/// Time by op, largest first.
struct OpTime {
  std::string op;
  int kernels = 0;
  double time_us = 0;
  double share = 0;  // of all kernels
};

struct KernelProfile {
  std::vector<KernelTime> kernels;  // in order of first execution
  double total_us = 0;
  double run_us = 0;   // a run without the profiler; 0 where it was not timed
  bool alone = false;  // each kernel was timed by itself, so that together they need not take as long
  int threads = 1;     // as ProfileOptions
  // Processors that other work kept busy meanwhile, and whether they are more than ProfileOptions allow.
  double other_load = 0;
  bool disturbed = false;

  std::vector<OpTime> by_op() const;
  /// Share of the time in matrix products and convolutions: what no removal of other work can touch.
  double dense_share() const;
  /// Speedup if everything else were free; infinite where there is no dense kernel.
  double ceiling() const;
};

/// True for ops whose time is matrix products or convolutions: Gemm, MatMul, Conv and their fused forms,
/// recurrent and attention kernels.
bool is_dense_kernel(const std::string& op);

struct ProfileOptions {
  int threads = 1;
  int warmup_runs = 2;  // their kernels are left out
  double budget_s = 1;  // of timed runs; at least 3, at most 100
  std::uint64_t seed = 0;
  bool kernels = false;  // outputs of the kernels and run_us, too: takes another session
  double most_other_load = disturbing_processors();  // else it is taken again, at most three times in all
};

/// Runs the model under the runtime's own profiler with its best options, fed at the first point. Of several
/// tries on a busy machine the least disturbed one counts. The runtime's profile is written to the system's
/// temporary folder and removed. Kernels inside a control-flow op are counted, the op around them is not.
/// Throws ExecError.
KernelProfile profile_model(const std::filesystem::path& model, const Feed& feed,
                            const ProfileOptions& options);

/// Reads a profile as the runtime wrote it (JSON, an array of trace events), an event at a time; the first
/// `skip_runs` of each kernel are left out. Throws ExecError on what is not one.
KernelProfile parse_profile(std::istream& events, int skip_runs);

/// "GEMM and convolution kernels take 91.2 % of the time; without all other kernels it would be 1.10x as
/// fast", with the next largest ops.
std::string describe_ceiling(const KernelProfile& profile);

}
