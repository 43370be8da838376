#include "core/wire/weights_client.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

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

Weights WeightsClient::fetch(std::uint64_t version) {
  try {
    none_yet_ = false;
    be_patient();
    while (true) {
      open();
      if (auto weights = fetch_once(version)) return std::move(*weights);
      close();
      std::this_thread::sleep_for(kLookEvery);  // not at once: it may be lost each time
    }
  } catch (...) {
    close();  // answers to this fetch may still come: the next one starts on a fresh connection
    throw;
  }
}

void WeightsClient::open() {
  WeightsPlace place = link_.await_weights_place(options_.stopped);
  if (place != place_) {
    close();
    be_patient();
  }
  if (socket_) return;
  place_ = std::move(place);
  socket_ = std::make_unique<zmq::socket_t>(
      open_socket(context_, zmq::socket_type::dealer, {.max_frame_bytes = kMaxChunkBytes}));
  secure_as_client(*socket_, keys_, place_.server_key);
  events_ = std::make_unique<SocketEvents>(context_, *socket_);
  socket_->connect(place_.endpoint);
}

void WeightsClient::close() {
  events_.reset();
  socket_.reset();
}

void WeightsClient::be_patient() {
  until_ = std::chrono::steady_clock::now() + milliseconds(options_.chunk_timeout_ms);
}

std::optional<Weights> WeightsClient::fetch_once(std::uint64_t version) {
  request(version, 0);
  const auto first = receive_chunk(version);
  if (!first) return std::nullopt;
  const WeightsInfo& info = first->header.info;
  if (version != 0 && info.version != version) {
    throw WireError(WireFault::kCorrupt, "another version was sent", name_of_version(version),
                    "fetch it again");
  }
  WeightsAssembler assembler(info, first->header.chunk_bytes, options_.max_bytes);
  assembler.add(first->header, first->bytes.bytes());
  std::uint32_t next = 1;
  for (; next < std::min(assembler.chunks(), 1 + kRequestsAhead); ++next) request(info.version, next);
  while (!assembler.complete()) {
    const auto chunk = receive_chunk(info.version);
    if (!chunk) return std::nullopt;
    assembler.add(chunk->header, chunk->bytes.bytes());
    if (next < assembler.chunks()) request(info.version, next++);
  }
  return Weights{info, assembler.finish()};
}

void WeightsClient::request(std::uint64_t version, std::uint32_t chunk) {
  // Never full: only a few requests are ahead of their answers.
  wire::send(*socket_, "", encode(WeightsRequest{version, chunk}), {}, counters_);
}

void WeightsClient::throw_gone(std::uint64_t version) const {
  throw WireError(WireFault::kGone, name_of_version(version) + " are not kept", place_.endpoint,
                  "fetch the latest");
}

/// Whether no answer is to come on this connection.
bool WeightsClient::lost() {
  bool disconnected = false;
  while (const auto event = events_->next()) disconnected |= event == NetEvent::kDisconnected;
  return disconnected || link_.weights_place() != place_;
}

std::optional<WeightsClient::Chunk> WeightsClient::receive_chunk(std::uint64_t version) {
  const ReceiveCaps caps{.frames = 2, .bytes = kMaxChunkBytes + kMaxHeaderBytes};
  std::array<zmq::pollitem_t, 2> items{
      {{socket_->handle(), 0, ZMQ_POLLIN, 0}, {events_->handle(), 0, ZMQ_POLLIN, 0}}};
  Incoming message;
  while (!receive(*socket_, false, caps, counters_, message)) {
    if (options_.stopped.stop_requested())
      throw WireError(WireFault::kClosed, "asked to stop", "weights", "");
    if (std::chrono::steady_clock::now() >= until_) {
      if (none_yet_) throw_gone(version);
      throw WireError(WireFault::kTimeout, name_of_version(version) + ": no answer", place_.endpoint,
                      "is the learner running?");
    }
    if (lost()) return std::nullopt;
    zmq::poll(items.data(), items.size(), kLookEvery);
  }
  if (message.oversized || message.frames.empty()) {
    throw WireError(WireFault::kCorrupt, "an answer is too large", place_.endpoint, "");
  }
  const Message answer = decode(message.frames.front().bytes());
  if (const auto* gone = std::get_if<Gone>(&answer)) {
    none_yet_ = gone->latest.version == 0 && place_.joined > 1;  // a relay that was started again
    if (!none_yet_) throw_gone(version);
    return std::nullopt;
  }
  const auto* header = std::get_if<WeightsChunk>(&answer);
  if (header == nullptr || message.frames.size() != 2) {
    throw WireError(WireFault::kCorrupt, "an answer is no chunk of weights", place_.endpoint, "");
  }
  be_patient();
  return Chunk{*header, std::move(message.frames.back())};
}

}
