#include "core/nn/model/policy_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/bytes.h"
#include "core/base/file.h"
#include "core/base/xz.h"
#include "core/env/observation.h"
#include "core/nn/model/nn_error.h"

namespace regraft::nn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

PolicyFile example() {
  const NetworkConfig config{.width = 8, .steps = 1, .node_kinds = 4};
  return {.network = config,
          .observation_schema = env::kObservationSchema,
          .op_kinds = {"Relu", "Add", "Conv"},
          .rule_set_hash = "0123",
          .rule_names = {"merge", "split"},
          .limits = {.horizon = 30, .location_limit = 50},
          .training_record = R"({"episodes":12})",
          .weights = initial_weights(config, 4)};
}

class PolicyFileTest : public testing::Test {
 protected:
  PolicyFileTest()
      : folder(testing::TempDir() + "/policy_" +
               testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(folder);
  }
  ~PolicyFileTest() override { std::filesystem::remove_all(folder); }
  std::filesystem::path folder;
};

TEST_F(PolicyFileTest, SavesAndLoads) {
  save_policy(example(), folder / "a.policy");
  EXPECT_EQ(load_policy(folder / "a.policy"), example());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

/// The bytes of a policy whose manifest `edit` has changed.
template <typename Edit>
std::vector<std::byte> edited(const PolicyFile& policy, const Edit& edit) {
  const auto now = encode_policy(policy);
  const std::size_t head = sizeof(std::uint64_t) + sizeof(std::uint32_t);
  std::uint64_t size = 0;
  std::memcpy(&size, now.data() + head, sizeof size);
  const auto* text = reinterpret_cast<const char*>(now.data()) + head + sizeof size;
  nlohmann::json manifest = nlohmann::json::parse(text, text + size);
  edit(manifest);
  Bytes bytes;
  ByteWriter out(bytes);
  out.raw(std::span(now).first(head));
  const std::string older = manifest.dump();
  out.value(static_cast<std::uint64_t>(older.size()));
  out.text(older);
  const std::size_t weights = head + sizeof size + size;
  out.raw(std::span(now).subspan(weights, now.size() - sizeof(Hash128) - weights));
  out.value(hash_bytes(bytes));
  return bytes;
}

/// As files were before they said what the policy's episodes were like.
std::vector<std::byte> without_limits(const PolicyFile& policy) {
  return edited(policy, [](nlohmann::json& manifest) {
    EXPECT_EQ(manifest.erase("horizon") + manifest.erase("location_limit"), 2u);
  });
}

TEST_F(PolicyFileTest, OlderFilesHaveTheirLimitsInTheConfigOfTheirRecordElseTheDefaults) {
  const auto limits = [](const std::string& record) {
    PolicyFile policy = example();
    policy.training_record = record;
    return decode_policy(without_limits(policy), "older").limits;
  };
  EXPECT_EQ(limits(R"({"config":"# steps\nworkload.horizon = 70\nworkload.locations = 9\n"})"),
            (env::EpisodeLimits{.horizon = 70, .location_limit = 9}));
  EXPECT_EQ(limits(R"({"config":"workload.horizon = 12\n"})"), (env::EpisodeLimits{.horizon = 12}));
  EXPECT_EQ(limits(R"({"config":"# workload.horizon = 12\nworkload.horizon_mode = \"x\"\n"})"),
            env::EpisodeLimits{});
  EXPECT_EQ(limits(R"({"config":7})"), env::EpisodeLimits{});
  EXPECT_EQ(limits("{}"), (env::EpisodeLimits{.horizon = 100, .location_limit = 200}));
}

TEST_F(PolicyFileTest, TheShippedPolicyPlaysEpisodesOfFortySteps) {
  EXPECT_EQ(load_policy(std::filesystem::path(REGRAFT_SOURCE_DIR) / "configs/policies/default.policy").limits,
            (env::EpisodeLimits{.horizon = 40, .location_limit = 200}));
}

TEST_F(PolicyFileTest, TheShippedPolicyIsWrittenAgainToTheByte) {
  const std::filesystem::path path =
      std::filesystem::path(REGRAFT_SOURCE_DIR) / "configs/policies/default.policy";
  const Bytes written = encode_policy(load_policy(path));
  const std::string text(reinterpret_cast<const char*>(written.data()), written.size());
  EXPECT_EQ(unxz(read_file(path), 10 * written.size()), text);
}

TEST_F(PolicyFileTest, LimitsThatNoEpisodeHasAreRefused) {
  PolicyFile policy = example();
  policy.limits.horizon = 0;
  EXPECT_THAT([&] { decode_policy(encode_policy(policy), "x.policy"); },
              ThrowsMessage<NnError>(HasSubstr("horizon")));
  policy.limits = {.horizon = 1, .location_limit = 65536};
  EXPECT_THROW(decode_policy(encode_policy(policy), "x"), NnError);
}

PolicyFile hierarchical_example() {
  PolicyFile policy = example();
  policy.network.head = Head::hierarchical;
  policy.network.head_width = 16;
  policy.network.rules = 3;
  policy.weights = initial_weights(policy.network, 4);
  return policy;
}

TEST_F(PolicyFileTest, AHierarchicalPolicyIsBoundToItsRuleSetAndAPointerIsNot) {
  const PolicyFile policy = hierarchical_example();
  EXPECT_EQ(decode_policy(encode_policy(policy), "x"), policy);
  EXPECT_NO_THROW(check_rule_set(policy, "0123"));
  EXPECT_THAT([&] { check_rule_set(policy, "4567"); }, ThrowsMessage<NnError>(HasSubstr("4567")));
  EXPECT_NO_THROW(check_rule_set(example(), "4567"));
  PolicyFile torn = policy;
  torn.rule_names.pop_back();
  EXPECT_THROW(decode_policy(encode_policy(torn), "x"), NnError);
}

TEST_F(PolicyFileTest, SaysWhetherItChoosesAmongRulesAtAllOfTheirSites) {
  for (PolicyFile policy : {example(), hierarchical_example()}) {
    const std::vector<std::byte> without = encode_policy(policy);
    policy.network.action_mode = env::ActionMode::all_sites;
    policy.weights = initial_weights(policy.network, 4);
    EXPECT_EQ(decode_policy(encode_policy(policy), "x"), policy);
    const auto says = [](const std::vector<std::byte>& bytes) {
      return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())
                 .find(env::kAllSitesField) != std::string::npos;
    };
    EXPECT_TRUE(says(encode_policy(policy)));
    EXPECT_FALSE(says(without)) << "files without stay as they were";
    const auto older =
        edited(policy, [](nlohmann::json& all) { all["network"][env::kAllSitesField] = true; });
    EXPECT_THAT([&] { decode_policy(older, "x"); }, ThrowsMessage<NnError>(HasSubstr("train it again")));
  }
}

TEST_F(PolicyFileTest, AHierarchicalPolicyMovesToAnotherOpTable) {
  const std::vector<std::string> kinds{"Conv", "Relu", "Add", "Mul", "Erf"};
  const PolicyFile moved = with_op_kinds(hierarchical_example(), kinds);
  EXPECT_EQ(moved.network.head, Head::hierarchical);
  EXPECT_NO_THROW(check(moved.weights, moved.network));
}

TEST_F(PolicyFileTest, AnotherSchemaIsRefusedByName) {
  PolicyFile policy = example();
  policy.observation_schema += 1;
  EXPECT_THAT([&] { decode_policy(encode_policy(policy), "x.policy"); },
              ThrowsMessage<NnError>(HasSubstr("schema")));
}

TEST_F(PolicyFileTest, EveryTruncationIsRefused) {
  const auto bytes = encode_policy(example());
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 32) {
    EXPECT_THROW(decode_policy(std::span(bytes).first(size), "x"), NnError) << size;
  }
}

TEST_F(PolicyFileTest, DamageIsRefused) {
  auto bytes = encode_policy(example());
  for (std::size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 500) {
    bytes[at] ^= std::byte{0x10};
    EXPECT_THROW(decode_policy(bytes, "x"), NnError) << at;
    bytes[at] ^= std::byte{0x10};
  }
}

TEST_F(PolicyFileTest, MissingForeignAndUnwritableFilesAreErrorsThatLeaveNothing) {
  EXPECT_THROW(load_policy(folder / "none.policy"), FileError);
  std::ofstream(folder / "text.policy") << "hello, this is no policy";
  EXPECT_THAT([&] { load_policy(folder / "text.policy"); },
              ThrowsMessage<NnError>(HasSubstr("not a policy file")));
  EXPECT_THROW(save_policy(example(), folder / "no_such_folder" / "a.policy"), FileError);
  std::filesystem::create_directories(folder / "taken.policy" / "inside");
  EXPECT_THROW(save_policy(example(), folder / "taken.policy"), FileError);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2);
}

TEST_F(PolicyFileTest, NamesTheRulesItNeverSaw) {
  const std::vector<std::string> current = {"split", "fold", "merge", "push"};
  EXPECT_THAT(unseen_rules(example(), current), ElementsAre("fold", "push"));
}

TEST_F(PolicyFileTest, ARuleThatMatchedNowhereInTrainingWasNeverSeen) {
  PolicyFile policy = example();
  nlohmann::json record;
  record[kMatchedRules] = std::vector<std::string>{"split"};
  policy.training_record = record.dump();
  const std::vector<std::string> current = {"split", "fold", "merge"};
  EXPECT_THAT(unseen_rules(policy, current), ElementsAre("fold", "merge"));
}

TEST_F(PolicyFileTest, OpKindsAreMatchedByName) {
  const PolicyFile policy = example();
  const std::vector<std::string> table = {"Conv", "Gelu", "Relu", "Add", "Mul"};
  const PolicyFile moved = with_op_kinds(policy, table);
  EXPECT_EQ(moved.network.node_kinds, 5u);
  const auto from = policy.weights.tensor("node_input.kind");
  const auto to = moved.weights.tensor("node_input.kind");
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(to[0 * 8 + i], from[2 * 8 + i]);
    EXPECT_EQ(to[2 * 8 + i], from[0 * 8 + i]);
    EXPECT_EQ(to[3 * 8 + i], from[1 * 8 + i]);
    EXPECT_NEAR(to[1 * 8 + i], (from[i] + from[8 + i] + from[16 + i]) / 3, 1e-6);
    EXPECT_EQ(to[1 * 8 + i], to[4 * 8 + i]);
  }
  check(moved.weights, moved.network);
}

}  // namespace
}
