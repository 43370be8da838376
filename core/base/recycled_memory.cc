#include "core/base/recycled_memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <new>

namespace regraft {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kRecycles = false;
#elif defined(__has_feature)
constexpr bool kRecycles = !__has_feature(address_sanitizer);
#else
constexpr bool kRecycles = true;
#endif

// Blocks of 16 bytes to 32 KiB (the 4096 integers that a rule may read of a constant), by powers of two.
constexpr std::size_t kLeastBits = 4, kMostBits = 15;
constexpr std::size_t kMostKept = 1024, kMostBytesKept = std::size_t{1} << 22;  // of one size

struct Block {
  Block* next;
};

struct FreeList {
  Block* first = nullptr;
  std::uint32_t count = 0;
};

// The thread's own. They have no destructor, so that other objects of the thread may give blocks back while
// they are destroyed; by then the lists are closed.
constinit thread_local std::array<FreeList, kMostBits - kLeastBits + 1> free_lists{};
constinit thread_local bool closed = false;

void* pop(FreeList& list) {
  Block* const block = list.first;
  if (!block) return nullptr;
  list.first = block->next;
  --list.count;
  return block;
}

struct ThreadExitHandler {
  ~ThreadExitHandler() {
    closed = true;
    for (FreeList& list : free_lists)
      while (void* block = pop(list)) ::operator delete(block);
  }
};

/// Has the free lists emptied when the thread ends.
void close_with_thread() {
  thread_local const ThreadExitHandler handler;
  static_cast<void>(handler);
}

std::size_t bits_of(std::size_t bytes) {
  return std::bit_width(std::max(bytes, std::size_t{1} << kLeastBits) - 1);
}

}  // namespace

void* take_memory(std::size_t bytes) {
  const std::size_t bits = bits_of(bytes);
  if (!kRecycles || bits > kMostBits) return ::operator new(bytes);
  void* const block = pop(free_lists[bits - kLeastBits]);
  return block ? block : ::operator new (std::size_t{1} << bits);
}

void give_memory(void* block, std::size_t bytes) noexcept {
  const std::size_t bits = bits_of(bytes);
  if (!kRecycles || bits > kMostBits || closed) return ::operator delete(block);
  FreeList& list = free_lists[bits - kLeastBits];
  if (list.count == std::min(kMostKept, kMostBytesKept >> bits)) return ::operator delete(block);
  if (!list.first) close_with_thread();
  list.first = new (block) Block{list.first};
  ++list.count;
}

}
