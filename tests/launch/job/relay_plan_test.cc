#include "launch/job/relay_plan.h"

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "launch/job/launch_error.h"

namespace regraft::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

/// A second passes each time that it is asked, and one of these things happens.
class BusyClock : public Clock {
 public:
  explicit BusyClock(std::vector<std::function<void()>> events = {}) : events_(std::move(events)) {}
  std::int64_t steady_ns() const override {
    if (asked_ < events_.size()) events_[asked_]();
    return static_cast<std::int64_t>(++asked_) * nanoseconds_per_second;
  }
  std::int64_t wall_ns() const override { return 0; }
  std::size_t asked() const { return asked_; }

 private:
  const std::vector<std::function<void()>> events_;
  mutable std::size_t asked_ = 0;
};

TEST(RelayPlan, TheFirstActorOfANetworkHasItsRelay) {
  const std::vector<std::string> networks{"node/1", "node/2", "node/1", "node/2",
                                          "node/3", "node/1", "node/2"};
  EXPECT_THAT(make_relay_plan("all", networks, 2),
              ElementsAre(Pair(2, "relay-2"), Pair(3, "relay-3"), Pair(4, "relay-4"), Pair(5, "relay-2"),
                          Pair(6, "relay-3")))
      << "machines of one name are not one; rank 1 learns";
  EXPECT_THAT(make_relay_plan("remote", networks, 2), ElementsAre(Pair(3, "relay-3"), Pair(6, "relay-3")));
  EXPECT_THAT(make_relay_plan("off", networks, 2), IsEmpty());
}

TEST(RelayPlan, IsAwaitedUntilItIsThereWhole) {
  const TempDir dir;
  const learner::RunFolder folder{dir.path() / "run"}, elsewhere{dir.path() / "elsewhere"};
  const RelayPlan plan{{1, "relay-1"}, {2, "relay-1"}};
  const std::string mark = save_relay_plan(elsewhere, plan);
  const auto file = folder.relays() / "plan";
  const std::string half = read_file(elsewhere.relays() / "plan").substr(0, 9);
  const BusyClock clock({[] {}, [] {},
                         [&] {
                           save_relay_plan(folder, {{1, "relay-7"}});
                         },
                         [&] { write_file_atomic(file, half); }, [&] { write_file_atomic(file, "{}"); },
                         [&] { save_relay_plan(folder, plan); }});
  EXPECT_EQ(await_relay_plan(folder, mark, clock), plan);
  EXPECT_EQ(clock.asked(), 6u) << "neither none nor another, half or no plan was taken for it";
}

TEST(RelayPlan, WaitingEndsWithWhatIsAmiss) {
  const TempDir dir;
  const learner::RunFolder folder{dir.path()};
  const auto error = [&](const std::string& mark) -> std::string {
    try {
      await_relay_plan(folder, mark, BusyClock(), std::chrono::seconds(3));
    } catch (const LaunchError& thrown) {
      return thrown.what();
    }
    return "none";
  };
  EXPECT_THAT(error("mark"), HasSubstr("rank 0's plan of relays is not there after 3 s"));
  EXPECT_THAT(error("mark"), HasSubstr((folder.relays() / "plan").string()));
  save_relay_plan(folder, {{1, "relay-1"}});
  EXPECT_THAT(error("mark"), HasSubstr("another plan of relays"));
}

}  // namespace
}
