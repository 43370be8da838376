#pragma once

// Internal to core/exec: time on the device that LibTorch computes on.

#include <c10/core/Device.h>

#include <functional>

namespace regraft::exec {

/// Times work that computes on a device. One thread at a time. Throws c10::Error.
class DeviceClock {
 public:
  /// `threads`: of LibTorch on the CPU.
  DeviceClock(at::Device device, int threads);

  /// Milliseconds until all that the work puts on the device is done. On the CPU with one thread they are the
  /// thread's own time: on an idle machine the wall time, on a shared one without the turns of others.
  double run_ms(const std::function<void()>& work) const;

  /// Microseconds of one call of the work, a median of several batches of calls that take about budget_s
  /// together. On a GPU each batch is timed there, between two events, so calls need not wait for each other.
  double each_us(const std::function<void()>& work, double budget_s) const;

 private:
  double batch_us(const std::function<void()>& work, int calls) const;
  double now_ms() const;

  at::Device device_;
  int threads_;
};

}
