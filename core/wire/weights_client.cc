#include "core/wire/weights_client.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "core/wire/message.h"

namespace regraft::wire {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kRequestsAhead = 4;
constexpr milliseconds kLookEvery{50};  // whether the run goes on
constexpr std::int64_t kMaxChunkBytes = std::int64_t{16} << 20;

std::string name_of_version(std::uint64_t version) {
  return version == 0 ? "the latest weights" : "weights version " + std::to_string(version);
}

}  // namespace

void WeightsClient::open(const std::string& endpoint, const KeyPair& keys, const std::string& server_key) {
  if (socket_ && endpoint == endpoint_ && server_key == server_key_) return;
  endpoint_ = endpoint;
  server_key_ = server_key;
  socket_ = std::make_unique<zmq::socket_t>(
      open_socket(context_, zmq::socket_type::dealer, {.max_frame_bytes = kMaxChunkBytes}));
  secure_as_client(*socket_, keys, server_key);
  socket_->connect(endpoint_);
}

Weights WeightsClient::fetch(const std::string& endpoint, const KeyPair& keys, const std::string& server_key,
                             std::uint64_t version, const std::function<void()>& check_open) {
  open(endpoint, keys, server_key);
  try {
    return fetch_now(version, check_open);
  } catch (...) {
    socket_.reset();  // answers to this fetch may still come: the next one starts on a fresh connection
    throw;
  }
}

Weights WeightsClient::fetch_now(std::uint64_t version, const std::function<void()>& check_open) {
  request(version, 0);
  const Chunk first = receive_chunk(version, check_open);
  const WeightsInfo& info = first.header.info;
  if (version != 0 && info.version != version) {
    throw WireError(WireFault::kCorrupt, "another version was sent", name_of_version(version),
                    "fetch it again");
  }
  WeightsAssembler assembler(info, first.header.chunk_bytes, options_.max_bytes);
  assembler.add(first.header, first.bytes.bytes());
  std::uint32_t next = 1;
  for (; next < std::min(assembler.chunks(), 1 + kRequestsAhead); ++next) request(info.version, next);
  while (!assembler.complete()) {
    const Chunk chunk = receive_chunk(info.version, check_open);
    assembler.add(chunk.header, chunk.bytes.bytes());
    if (next < assembler.chunks()) request(info.version, next++);
  }
  return {info, assembler.finish()};
}

void WeightsClient::request(std::uint64_t version, std::uint32_t chunk) {
  // Never full: only a few requests are ahead of their answers.
  wire::send(*socket_, "", encode(WeightsRequest{version, chunk}), {}, counters_);
}

WeightsClient::Chunk WeightsClient::receive_chunk(std::uint64_t version,
                                                  const std::function<void()>& check_open) {
  const ReceiveCaps caps{.frames = 2, .bytes = kMaxChunkBytes + kMaxHeaderBytes};
  std::array<zmq::pollitem_t, 1> items{{{socket_->handle(), 0, ZMQ_POLLIN, 0}}};
  Incoming message;
  const auto until = std::chrono::steady_clock::now() + milliseconds(options_.chunk_timeout_ms);
  while (!receive(*socket_, false, caps, counters_, message)) {
    check_open();
    if (std::chrono::steady_clock::now() >= until) {
      throw WireError(WireFault::kTimeout, name_of_version(version) + ": no answer", endpoint_,
                      "is the learner running?");
    }
    zmq::poll(items.data(), items.size(), std::min(kLookEvery, milliseconds(options_.chunk_timeout_ms)));
  }
  if (message.oversized || message.frames.empty()) {
    throw WireError(WireFault::kCorrupt, "an answer is too large", endpoint_, "");
  }
  const Message answer = decode(message.frames.front().bytes());
  if (std::holds_alternative<Gone>(answer)) {
    throw WireError(WireFault::kGone, name_of_version(version) + " are not kept", endpoint_,
                    "fetch the latest");
  }
  const auto* header = std::get_if<WeightsChunk>(&answer);
  if (header == nullptr || message.frames.size() != 2) {
    throw WireError(WireFault::kCorrupt, "an answer is no chunk of weights", endpoint_, "");
  }
  return {*header, std::move(message.frames.back())};
}

}  // namespace regraft::wire
