#include "launch/job/join_run.h"

#include <gmock/gmock.h>

#include "core/base/atomic_file.h"
#include "core/wire/keys.h"
#include "launch/job/job_config.h"
#include "launch/job/prepared_run.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

using ::testing::HasSubstr;

TEST(JoinRun, AWorkerThatComesBeforeTheLearnerSaysWhatItWaitsFor) {
  const TempDir dir;
  const std::string key = (dir.path() / "key").string();
  wire::load_or_make_key_pair(key);
  for (const char* command : {"actor", "relay"}) {
    const learner::RunFolder folder{dir.path() / command};
    make_run(folder, load_job_config({}, {}));
    const std::string file = folder.run_file().string();
    testing::Running worker({testing::program(), command, "--join", file, "--key", key, "--name", "a"});
    ASSERT_TRUE(worker.wait_for_line("a: waits 60 s at most for a learner: " + file)) << worker.seen();
    write_file_atomic(folder.summary(), std::string_view("{}"));
    EXPECT_EQ(worker.finish().code, 0) << worker.seen();
    EXPECT_THAT(worker.seen(), HasSubstr("a: ends: " + folder.root.string() + ": the run has ended"));
  }
}

}  // namespace
}
