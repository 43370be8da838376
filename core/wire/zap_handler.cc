#include "core/wire/zap_handler.h"

#include <array>
#include <string_view>

#include "core/base/log.h"

namespace regraft::wire {
namespace {

constexpr std::size_t kKeyBytes = 32;
// Frames of a request: version, request id, domain, address, identity, mechanism, credentials...
enum RequestFrame : std::size_t {
  kVersion,
  kRequestId,
  kDomain,
  kAddress,
  kIdentity,
  kMechanism,
  kCredentials
};

std::string_view text_of(const Frame& frame) {
  return {reinterpret_cast<const char*>(frame.bytes().data()), frame.size()};
}

std::string z85_of(const Frame& frame) {
  if (frame.size() != kKeyBytes) return "";
  std::array<char, 41> text{};
  zmq_z85_encode(text.data(), reinterpret_cast<const std::uint8_t*>(frame.bytes().data()), kKeyBytes);
  return text.data();
}

}  // namespace

ZapHandler::ZapHandler(Context& context, AuthorisedKeys* keys)
    : keys_(keys), socket_(open_socket(context, zmq::socket_type::rep, {})) {
  socket_.bind("inproc://zeromq.zap.01");
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

ZapHandler::~ZapHandler() {
  thread_.request_stop();
  wake_.signal();
}

void ZapHandler::serve(const std::stop_token& stop) try {
  std::array<zmq::pollitem_t, 2> items{
      {{socket_.handle(), 0, ZMQ_POLLIN, 0}, {nullptr, wake_.fd(), ZMQ_POLLIN, 0}}};
  Incoming request;
  while (!stop.stop_requested()) {
    zmq::poll(items.data(), items.size(), std::chrono::milliseconds(-1));
    while (receive(socket_, false, {}, counters_, request)) answer(request);
  }
} catch (const std::exception& error) {
  // Nobody can join any more, which is the safe side; those who have joined go on.
  log_error("the keys of new actors cannot be checked: {}", error.what());
}

void ZapHandler::answer(const Incoming& request) {
  const auto& frames = request.frames;
  std::string user;
  bool good = false;
  if (frames.size() >= kCredentials && text_of(frames[kVersion]) == "1.0") {
    const std::string_view mechanism = text_of(frames[kMechanism]);
    if (keys_ == nullptr) {
      good = mechanism == "NULL";
    } else if (mechanism == "CURVE" && frames.size() > kCredentials) {
      keys_->reload();
      user = z85_of(frames[kCredentials]);
      good = keys_->contains(user);
    }
  }
  if (!good) user.clear();
  const std::string_view status = good ? "200" : "400";
  const std::string_view text = good ? "OK" : "not authorised";
  std::vector<Frame> reply;
  for (const std::string_view part : {frames.size() > kRequestId ? text_of(frames[kRequestId]) : "", status,
                                      text, std::string_view(user), std::string_view()}) {
    reply.push_back(Frame::copy_of(std::as_bytes(std::span(part))));
  }
  constexpr std::string_view version = "1.0";
  send(socket_, "", std::as_bytes(std::span(version)), reply, counters_);
}

}
