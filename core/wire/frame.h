#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace regraft::wire {

/// One block of bytes of a message, received or to be sent, that is never copied on its way. It either owns
/// memory of the transport or keeps the sender's memory alive until the transport has written it. Move-only;
/// share() makes a second handle on the same bytes, which must not change while any handle lives. Not
/// thread-safe, but two handles on the same bytes may live in two threads.
class Frame {
 public:
  Frame();
  ~Frame();
  Frame(Frame&& other) noexcept;
  Frame& operator=(Frame&& other) noexcept;

  static Frame copy_of(std::span<const std::byte> bytes);
  /// Bytes of `owner`, which lives until the last handle and the transport have let go.
  static Frame view_of(std::shared_ptr<const void> owner, std::span<const std::byte> bytes);
  /// Takes over a vector: its bytes are sent without a copy.
  template <typename T>
  static Frame adopt(std::vector<T> values) {
    auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    const auto bytes = std::as_bytes(std::span(*owner));
    return view_of(std::move(owner), bytes);
  }

  Frame share() const;
  std::span<const std::byte> bytes() const;
  std::size_t size() const { return bytes().size(); }

  /// The transport's message object (a zmq_msg_t), for core/wire alone.
  void* handle() { return raw_; }

 private:
  // A zmq_msg_t in place, so that its header stays out of this one; frame.cc checks size and alignment.
  static constexpr std::size_t kHandleBytes = 64;
  alignas(void*) mutable std::byte raw_[kHandleBytes];
};

/// Sum of the sizes.
std::size_t total_bytes(std::span<const Frame> frames);

}
