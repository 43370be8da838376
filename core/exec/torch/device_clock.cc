#include "core/exec/torch/device_clock.h"

#include <c10/core/Event.h>
#include <torch/cuda.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "core/base/stats.h"

namespace regraft::exec {
namespace {

constexpr int kBatches = 5;
constexpr int kMostCalls = 1000;  // of a batch
constexpr double kUsPerMs = 1e3, kUsPerS = 1e6;

}  // namespace

DeviceClock::DeviceClock(at::Device device, int threads) : device_(device), threads_(threads) {}

double DeviceClock::now_ms() const {
  const bool own_time = device_.is_cpu() && threads_ == 1;
  timespec now{};
  clock_gettime(own_time ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double DeviceClock::run_ms(const std::function<void()>& work) const {
  const double start_ms = now_ms();
  work();
  if (device_.is_cuda()) torch::cuda::synchronize();
  return now_ms() - start_ms;
}

double DeviceClock::each_us(const std::function<void()>& work, double budget_s) const {
  batch_us(work, 1);  // LibTorch chooses kernels by the sizes at a first call
  const double one_us = batch_us(work, 1), of_batch_us = budget_s * kUsPerS / kBatches;
  const int calls = static_cast<int>(std::clamp(of_batch_us / std::max(one_us, 1.0), 1.0, 1.0 * kMostCalls));
  std::vector<double> batches;
  for (int i = 0; i < kBatches; ++i) batches.push_back(batch_us(work, calls) / calls);
  return median(batches);
}

double DeviceClock::batch_us(const std::function<void()>& work, int calls) const {
  const auto all = [&] {
    for (int i = 0; i < calls; ++i) work();
  };
  if (device_.is_cpu()) return run_ms(all) * kUsPerMs;
  const c10::Stream stream = c10::impl::VirtualGuardImpl(device_.type()).getStream(device_);
  c10::Event begin(device_.type(), c10::EventFlag::BACKEND_DEFAULT),
      end(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
  begin.record(stream);
  all();
  end.record(stream);
  end.synchronize();
  return begin.elapsedTime(end) * kUsPerMs;
}

}
