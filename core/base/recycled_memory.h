#pragma once

#include <cstddef>

namespace regraft {

/// Memory for lists that come and go: what was given back is taken again without asking the heap. Each thread
/// keeps its own, up to a bound; large blocks are the heap's. Aligned like operator new. Under
/// AddressSanitizer all blocks are the heap's, so that it sees their use after they were given back.
void* take_memory(std::size_t bytes);
/// With the size that was asked for; of any thread.
void give_memory(void* block, std::size_t bytes) noexcept;

}
