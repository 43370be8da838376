#include "learner/controller/dream_phase.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/nn/dream_world.h"
#include "core/nn/model/world_bundle.h"
#include "core/wire/link.h"
#include "core/wire/run_info.h"
#include "replay/dream/dream_recorder.h"
#include "replay/dream/dream_work.h"

namespace regraft::learner {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr std::uint64_t kSeed = 3101;
constexpr std::chrono::milliseconds kLong = 30s;

class DreamPhaseTest : public ::testing::Test {
 protected:
  DreamPhaseTest() {
    const nn::WorldModel world = test::random_world(kSeed);
    setup.job.folder.root = dir.path();
    setup.job.options.plain = true;
    setup.job.options.updates = 1;
    setup.job.options.steps_per_update = 1;
    setup.job.options.checkpoint_minutes = 60;
    setup.dream.world = dir.path() / "model.world";
    setup.dream.width = 16;
    setup.context = {.rule_set_hash = world.rule_set_hash,
                     .op_kinds = world.op_kinds,
                     .model_names = world.model_names,
                     .horizon = world.horizon,
                     .location_limit = world.location_limit,
                     .reward_kind = world.reward_kind};
    setup.job.show_progress = false;
    nn::save_bundle({world, {}, {}, {}}, setup.dream.world);
    write_file_atomic(setup.job.folder.run_id(), std::string("0123456789abcdef\n"));
  }

  std::unique_ptr<wire::Link> link() {
    wire::LinkOptions options;
    options.locate = [path = setup.job.folder.run_file()] { return wire::RunInfo::load(path); };
    options.actor = "dreamer";
    options.kind = kDreamKind;
    options.incarnation = 1;
    return std::make_unique<wire::Link>(std::move(options), clock);
  }
  /// Answers a ticket with these frames, a part each.
  static void answer(wire::Link& link, const std::vector<std::vector<replay::Bytes>>& parts,
                     std::uint32_t steps) {
    const auto ticket = link.next_ticket(kLong);
    ASSERT_TRUE(ticket);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      wire::PartInfo info{.weight_version = ticket->weight_version, .steps = steps};
      info.last = i + 1 == parts.size();
      std::vector<wire::Frame> frames;
      for (replay::Bytes bytes : parts[i]) frames.push_back(wire::Frame::adopt(std::move(bytes)));
      link.send(*ticket, info, std::move(frames));
    }
    ASSERT_TRUE(link.flush(kLong));
  }

  TempDir dir;
  SystemClock clock;
  DreamPhaseSetup setup;
};

TEST_F(DreamPhaseTest, ARefusedBundleIsRejectedAndCountedAlsoAfterARestart) {
  for (const std::uint64_t expected : {1u, 2u}) {
    JobRunner runner(setup.job, make_dream_phase(setup), clock);
    std::stop_source stop;
    JobSummary summary;
    std::jthread learning([&] { summary = runner.run(stop.get_token()); });
    answer(*link(), {{replay::encode_refused_bundle()}}, 0);
    stop.request_stop();
    learning.join();
    EXPECT_EQ(summary.ticket_counts.total().rejected, expected);
    EXPECT_TRUE(summary.ticket_counts.check().empty());
    const auto json = nlohmann::json::parse(read_file(setup.job.folder.summary()));
    EXPECT_EQ(json.at("refused_bundles"), expected);
    EXPECT_THAT(summary.text, HasSubstr("refused " + std::to_string(expected)));
  }
}

}  // namespace
}
