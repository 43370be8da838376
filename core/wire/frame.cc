#include "core/wire/frame.h"

#include <zmq.h>

#include <atomic>
#include <cstring>
#include <new>

namespace regraft::wire {
namespace {

static_assert(sizeof(zmq_msg_t) == 64 && alignof(zmq_msg_t) <= alignof(void*));

// Below this the book-keeping of a shared block costs more than the copy.
constexpr std::size_t kCopyBelowBytes = 512;

// Keeps the sender's memory alive. The atomic makes the hand-over to the transport's thread visible to
// ThreadSanitizer, which does not see into the transport's own queues.
struct BufferOwner {
  explicit BufferOwner(std::shared_ptr<const void> o) : owner(std::move(o)) {}
  std::shared_ptr<const void> owner;
  std::atomic<bool> handed_over{false};
};

void release(void* /*data*/, void* hint) {
  auto* buffer_owner = static_cast<BufferOwner*>(hint);
  if (buffer_owner->handed_over.load(std::memory_order_acquire))
    std::unique_ptr<BufferOwner>(buffer_owner).reset();
}

zmq_msg_t* message(std::byte* raw) {
  return std::launder(reinterpret_cast<zmq_msg_t*>(raw));
}

}  // namespace

Frame::Frame() {
  zmq_msg_init(message(raw_));
}

Frame::~Frame() {
  zmq_msg_close(message(raw_));
}

Frame::Frame(Frame&& other) noexcept : Frame() {
  zmq_msg_move(message(raw_), message(other.raw_));
}

Frame& Frame::operator=(Frame&& other) noexcept {
  if (this != &other) zmq_msg_move(message(raw_), message(other.raw_));
  return *this;
}

Frame Frame::copy_of(std::span<const std::byte> bytes) {
  Frame frame;
  if (bytes.empty()) return frame;
  if (zmq_msg_init_size(message(frame.raw_), bytes.size()) != 0) {
    zmq_msg_init(message(frame.raw_));
    throw std::bad_alloc();
  }
  std::memcpy(zmq_msg_data(message(frame.raw_)), bytes.data(), bytes.size());
  return frame;
}

Frame Frame::view_of(std::shared_ptr<const void> owner, std::span<const std::byte> bytes) {
  if (bytes.size() < kCopyBelowBytes) return copy_of(bytes);
  Frame frame;
  auto buffer_owner = std::make_unique<BufferOwner>(std::move(owner));
  buffer_owner->handed_over.store(true, std::memory_order_release);
  // The transport never writes through this pointer.
  void* data = const_cast<std::byte*>(bytes.data());
  if (zmq_msg_init_data(message(frame.raw_), data, bytes.size(), release, buffer_owner.get()) != 0) {
    zmq_msg_init(message(frame.raw_));
    throw std::bad_alloc();
  }
  buffer_owner.release();  // NOLINT(bugprone-unused-return-value): now released by release()
  return frame;
}

Frame Frame::share() const {
  Frame frame;
  zmq_msg_copy(message(frame.raw_), message(raw_));
  return frame;
}

std::span<const std::byte> Frame::bytes() const {
  zmq_msg_t* m = message(raw_);
  return {static_cast<const std::byte*>(zmq_msg_data(m)), zmq_msg_size(m)};
}

std::size_t total_bytes(std::span<const Frame> frames) {
  std::size_t sum = 0;
  for (const Frame& frame : frames) sum += frame.size();
  return sum;
}

}
