#include "core/wire/weights_server.h"

#include <algorithm>
#include <array>

#include "core/base/log.h"

namespace regraft::wire {
namespace {

// Chunks on their way share their bytes with the store, so a long queue costs little. They get a moment to be
// sent whole: at linger 0 ZeroMQ may abort where the other end closes amid frames (libzmq issue 3442).
constexpr SocketLimits kRequestLimits{.linger_ms = 500, .max_frame_bytes = kMaxHeaderBytes};

}  // namespace

WeightsServer::WeightsServer(Context& context, const KeyPair& server, const AuthorisedKeys* keys,
                             const Endpoints& endpoints, const WeightsStore& store)
    : keys_(keys),
      store_(store),
      router_(open_socket(context, zmq::socket_type::router, kRequestLimits)),
      publisher_(open_socket(context, zmq::socket_type::pub, kRequestLimits)) {
  secure_as_server(router_, server);
  secure_as_server(publisher_, server);
  const auto listen = [&](zmq::socket_t& socket, const std::vector<std::string>& at,
                          std::vector<std::string>& bound) {
    for (const std::string& endpoint : at) {
      bound.push_back(bind_socket(socket, endpoint));
      files_.add(bound.back());
    }
  };
  listen(router_, endpoints.weights, bound_.weights);
  listen(publisher_, endpoints.announce, bound_.announce);
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

WeightsServer::~WeightsServer() {
  thread_.request_stop();
  wake_.signal();
}

void WeightsServer::serve(const std::stop_token& stop) try {
  std::array<zmq::pollitem_t, 2> items{
      {{router_.handle(), 0, ZMQ_POLLIN, 0}, {nullptr, wake_.fd(), ZMQ_POLLIN, 0}}};
  const ReceiveCaps caps{.frames = 1, .bytes = kMaxHeaderBytes};
  Incoming request;
  while (!stop.stop_requested()) {
    zmq::poll(items.data(), items.size(), std::chrono::milliseconds(-1));
    if (items[1].revents != 0) {
      wake_.drain();
      announce_latest();
    }
    while (receive(router_, true, caps, counters_, request)) answer(request);
    counters_.sample_thread_cpu();
  }
} catch (const std::exception& error) {
  // Actors time out at their next fetch and say so; results are not touched.
  log_error("weights can no longer be fetched: {}", error.what());
}

void WeightsServer::answer(const Incoming& request) {
  if (keys_ != nullptr && !keys_->contains(request.key)) return;
  if (request.oversized || request.frames.size() != 1) return;
  Message message;
  try {
    message = decode(request.frames.front().bytes());
  } catch (const WireError&) {
    return;  // no message of ours: its sender gets no answer and times out
  }
  const auto* wanted = std::get_if<WeightsRequest>(&message);
  if (wanted == nullptr) return;
  const auto stored = store_.find(wanted->version);
  if (!stored || wanted->chunk >= chunk_count(stored->info.size_bytes, kWeightsChunkBytes)) {
    send(router_, request.connection, encode(Gone{wanted->version, store_.latest()}), {}, counters_);
    return;
  }
  const std::size_t begin = std::size_t{wanted->chunk} * kWeightsChunkBytes;
  const std::size_t length = std::min<std::size_t>(kWeightsChunkBytes, stored->bytes->size() - begin);
  const Frame chunk = Frame::view_of(stored->bytes, std::span(*stored->bytes).subspan(begin, length));
  // One who does not read, or is gone, asks again or not at all: nothing waits for it.
  send(router_, request.connection, encode(WeightsChunk{stored->info, wanted->chunk, kWeightsChunkBytes}),
       std::span(&chunk, 1), counters_);
}

void WeightsServer::announce_latest() {
  const WeightsInfo latest = store_.latest();
  if (latest.version == announced_) return;
  announced_ = latest.version;
  send(publisher_, "", encode(WeightsAnnounce{latest}), {}, counters_);
}

}
