#include "core/wire/counters.h"

#include "core/wire/cpu_clock.h"

namespace regraft::wire {

std::uint64_t process_cpu_ns() {
  return cpu_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void LiveCounters::sample_thread_cpu() {
  cpu_ns_.store(cpu_clock_ns(CLOCK_THREAD_CPUTIME_ID), std::memory_order_relaxed);
}

TransportCounters LiveCounters::read() const {
  TransportCounters counters;
  counters.messages_in = messages_in_.load(std::memory_order_relaxed);
  counters.messages_out = messages_out_.load(std::memory_order_relaxed);
  counters.bytes_in = bytes_in_.load(std::memory_order_relaxed);
  counters.bytes_out = bytes_out_.load(std::memory_order_relaxed);
  counters.cpu_ns = cpu_ns_.load(std::memory_order_relaxed);
  return counters;
}

}
