// Replaying a log up to any of its entries, and the fuzzer's first logs.
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/graph/order.h"
#include "core/rules/graph_builder.h"
#include "core/rules/lang/rule_error.h"
#include "core/rules/match/match_index.h"
#include "core/rules/rewrite/rewrite_log.h"
#include "support/validate.h"

namespace regraft::rules {
namespace {

using testing::GraphBuilder;
using testing::OpKind;
using testing::Value;

const RuleSet& rules() {
  static const RuleSet set = RuleSet::parse("tanh-tanh: Tanh(Tanh(x)) => Tanh(x)", "test.rules");
  return set;
}

/// Three Tanhs (a rule need not be right to be replayed), an Identity, and twice the same Neg.
void build(GraphBuilder& b) {
  Value x = b.input({2, 3});
  const Value y = b.op(OpKind::identity, {x});
  for (int i = 0; i < 3; ++i) x = b.op(OpKind::tanh, {x});
  b.output(b.op(OpKind::add, {b.op(OpKind::neg, {y}), b.op(OpKind::neg, {y})}));
  b.output(x);
}

/// Clean-up and both rewrites; `hashes` gets the graph's hash after the clean-up and each rewrite.
RewriteLog make_log(std::vector<Hash128>& hashes) {
  GraphBuilder b;
  build(b);
  RewriteLog log;
  log.rule_set = rules().hash().hex();
  for (const CleanupStep& step : clean_up(b.graph(), rules()))
    log.entries.push_back({step.name, {step.node}});
  hashes.push_back(graph::structural_hash(b.graph()));
  for (int i = 0; i < 2; ++i) {
    const MatchIndex index(rules(), b.graph());
    const Match match = index.matches(0)[0];
    apply(b.graph(), rules(), match);
    log.entries.push_back({"tanh-tanh", {match.nodes.begin(), match.nodes.end()}, 2, 1});
    hashes.push_back(graph::structural_hash(b.graph()));
  }
  return log;
}

TEST(Replay, StopsAfterAnyEntry) {
  std::vector<Hash128> hashes;
  const RewriteLog log = make_log(hashes);
  const std::size_t cleaned = log.entries.size() - log.rule_count();
  ASSERT_GE(cleaned, 2u);
  for (std::size_t count = 0; count <= log.entries.size(); ++count) {
    GraphBuilder b;
    build(b);
    const Hash128 before = graph::structural_hash(b.graph());
    replay(log, b.graph(), rules(), count);
    graph::validate(b.graph());
    const bool is_known = count == 0 || count >= cleaned;
    EXPECT_TRUE(!is_known ||
                graph::structural_hash(b.graph()) == (count == 0 ? before : hashes[count - cleaned]))
        << count;
  }
}

TEST(Replay, GoesEntryByEntry) {
  std::vector<Hash128> hashes;
  const RewriteLog log = make_log(hashes);
  GraphBuilder b;
  build(b);
  Replayer replayer(log, b.graph(), rules());
  EXPECT_EQ(replayer.done(), log.entries.size() - log.rule_count());
  replayer.next();
  EXPECT_EQ(graph::structural_hash(b.graph()), hashes[1]);
  replayer.next();
  EXPECT_EQ(graph::structural_hash(b.graph()), hashes[2]);
  EXPECT_EQ(replayer.done(), log.entries.size());
}

TEST(Replay, TheFuzzersFirstLogsAreReadBackOrRefused) {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(REGRAFT_SOURCE_DIR) /
                                                              "tests/fuzz/rewrite_log")) {
    const RewriteLog log = RewriteLog::load(file.path());
    EXPECT_EQ(RewriteLog::parse(log.to_text(), "printed"), log) << file.path();
    GraphBuilder b;
    build(b);
    EXPECT_THROW(replay(log, b.graph(), rules()), RuleError) << "another rule set";
    ++files;
  }
  EXPECT_GE(files, 3);
}

}  // namespace
}
