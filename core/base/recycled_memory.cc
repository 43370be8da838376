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

constexpr std::size_t kLeastBits = 4, kMostBits = 12;  // blocks of 16 bytes to 4 KiB, by powers of two
constexpr std::uint32_t kMostKept = 1024;              // of one size

struct Block {
  Block* next;
};

struct Shelf {
  Block* first = nullptr;
  std::uint32_t count = 0;
};

class Shelves {
 public:
  ~Shelves() {
    open_ = false;
    for (Shelf& shelf : shelves_)
      while (void* block = pop(shelf)) ::operator delete(block);
  }

  void* take(std::size_t bits) {
    void* const block = pop(shelves_[bits - kLeastBits]);
    return block ? block : ::operator new (std::size_t{1} << bits);
  }
  void give(void* block, std::size_t bits) {
    Shelf& shelf = shelves_[bits - kLeastBits];
    if (!open_ || shelf.count == kMostKept) return ::operator delete(block);
    shelf.first = new (block) Block{shelf.first};
    ++shelf.count;
  }

 private:
  static void* pop(Shelf& shelf) {
    Block* const block = shelf.first;
    if (!block) return nullptr;
    shelf.first = block->next;
    --shelf.count;
    return block;
  }

  std::array<Shelf, kMostBits - kLeastBits + 1> shelves_{};
  bool open_ = true;  // false while the thread's other objects may still be destroyed
};

constinit thread_local Shelves shelves;

std::size_t bits_of(std::size_t bytes) {
  return std::bit_width(std::max(bytes, std::size_t{1} << kLeastBits) - 1);
}

}  // namespace

void* take_memory(std::size_t bytes) {
  const std::size_t bits = bits_of(bytes);
  return kRecycles && bits <= kMostBits ? shelves.take(bits) : ::operator new(bytes);
}

void give_memory(void* block, std::size_t bytes) noexcept {
  const std::size_t bits = bits_of(bytes);
  if (kRecycles && bits <= kMostBits)
    shelves.give(block, bits);
  else
    ::operator delete(block);
}

}  // namespace regraft
