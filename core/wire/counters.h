#pragma once

#include <atomic>
#include <cstdint>

namespace regraft::wire {

/// What a transport has moved and what it cost. Bytes are of headers and frames, before encryption.
struct TransportCounters {
  std::uint64_t messages_in = 0;
  std::uint64_t messages_out = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t cpu_ns = 0;  // of the transport's own threads, encryption included

  TransportCounters& operator+=(const TransportCounters& other) {
    messages_in += other.messages_in;
    messages_out += other.messages_out;
    bytes_in += other.bytes_in;
    bytes_out += other.bytes_out;
    cpu_ns += other.cpu_ns;
    return *this;
  }
};

/// CPU time of the calling process, all threads, to divide TransportCounters::cpu_ns by.
std::uint64_t process_cpu_ns();

/// Counters that one thread raises and any thread reads.
class LiveCounters {
 public:
  void count_in(std::uint64_t bytes) { add(messages_in_, bytes_in_, bytes); }
  void count_out(std::uint64_t bytes) { add(messages_out_, bytes_out_, bytes); }
  /// CPU time of the calling thread, which must be the transport's.
  void sample_thread_cpu();
  TransportCounters read() const;

 private:
  static void add(std::atomic<std::uint64_t>& messages, std::atomic<std::uint64_t>& bytes,
                  std::uint64_t size) {
    messages.fetch_add(1, std::memory_order_relaxed);
    bytes.fetch_add(size, std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t> messages_in_{0}, messages_out_{0}, bytes_in_{0}, bytes_out_{0}, cpu_ns_{0};
};

}
