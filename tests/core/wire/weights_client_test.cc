#include "core/wire/weights_client.h"

#include <future>

#include "core/wire/run_fixture.h"
#include "core/wire/weights_server.h"

namespace regraft::wire {
namespace {

using namespace testing_support;

class WeightsClientTest : public ::testing::Test {
 protected:
  std::string endpoint(const char* name) const { return "ipc://" + (folder_.path() / name).string(); }
  /// A learner that hands out weights here welcomes us.
  void join(const std::string& endpoint) { state_.on_welcome({.generation = 1, .latest = {}}, endpoint, ""); }
  std::future<Weights> fetch(std::uint64_t version) {
    return std::async(std::launch::async, [this, version] { return client_.fetch(version); });
  }
  /// The next request that the learner who says nothing by himself has got.
  Incoming request() {
    Incoming message;
    zmq::pollitem_t came{router_.handle(), 0, ZMQ_POLLIN, 0};
    EXPECT_TRUE(zmq::poll(&came, 1, kLong) == 1 && receive(router_, true, {}, counters_, message));
    return message;
  }
  void answer(const Incoming& request, const Message& message) {
    const Frame frame;
    send(router_, request.connection, encode(message), std::span(&frame, 1), counters_);
  }

  TempDir folder_{"rw"};
  Context context_;
  zmq::socket_t router_{open_socket(context_, zmq::socket_type::router, {})};
  const std::string silent_ = bind_socket(router_, endpoint("silent"));
  LiveCounters counters_;
  WeightsStore store_;
  WeightsServer server_{context_, {}, nullptr, {{endpoint("weights")}, {}}, store_};
  LinkState state_;
  std::stop_source stop_;
  WeightsClient client_{context_, state_, {}, {.chunk_timeout_ms = 30000, .stopped = stop_.get_token()}};
};

TEST_F(WeightsClientTest, AStopEndsAFetchThatWaitsForAnAnswer) {
  join(silent_);
  auto fetched = fetch(1);
  request();
  stop_.request_stop();
  EXPECT_EQ(error_of([&] { fetched.get(); }).fault(), WireFault::kClosed);
}

TEST_F(WeightsClientTest, AFetchBeginsAnewAtTheNextLearnerAndWaitsForItsFirstWeights) {
  join(silent_);
  auto fetched = fetch(0);
  request();
  join(silent_);
  answer(request(), Gone{});  // which says of a learner that was joined again that it has none yet
  request();
  store_.publish(2, std::vector<std::byte>(10));
  join(server_.endpoints().weights[0]);
  EXPECT_EQ(fetched.get().info, store_.latest());
}

TEST_F(WeightsClientTest, WhatIsNoChunkOfTheWeightsIsCorrupt) {
  join(silent_);
  const WeightsInfo other{2, hash_bytes({}), 0};
  for (const Message& message : std::vector<Message>{WeightsChunk{other, 0, 10}, WeightsAnnounce{other}}) {
    auto fetched = fetch(1);
    answer(request(), message);
    EXPECT_EQ(error_of([&] { fetched.get(); }).fault(), WireFault::kCorrupt);
  }
}

}  // namespace
}
