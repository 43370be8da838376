#include "core/corpus/corpus.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "core/base/hash.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "core/onnx/model_summary.h"

namespace regraft::corpus {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kSeeds = 5;  // each exporter's dialect once

std::string name_of(const std::string& family, int seed) {
  return "corpus:" + family + ":" + std::to_string(seed);
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const FamilyInfo& family : families()) names.emplace_back(family.name);
  return names;
}

onnx::ImportedModel imported(const std::string& bytes) {
  return onnx::import_model_bytes(std::as_bytes(std::span(bytes)), {});
}

class EachFamily : public ::testing::TestWithParam<std::string> {};

TEST_P(EachFamily, ComesBackToTheBitFromAGraph) {
  const std::set<std::string> left_alone = {"LSTM", "GRU", "Resize"};
  for (int seed = 0; seed < kSeeds; ++seed) {
    const std::string name = name_of(GetParam(), seed), bytes = make_model(name);
    const onnx::ImportedModel model = imported(bytes);
    EXPECT_EQ(hash_text(onnx::export_model_bytes(model, model.graph())), hash_text(bytes)) << name;
    for (const auto& [op, count] : onnx::summarise(model).opaque_ops)
      EXPECT_TRUE(left_alone.contains(op)) << name << ": " << op;
  }
}

TEST_P(EachFamily, GivesTheSameBytesForASeed) {
  const std::string name = name_of(GetParam(), 3);
  EXPECT_EQ(hash_text(make_model(name)), hash_text(make_model(name)));
}

TEST_P(EachFamily, DiffersInSizesAndDialectsBySeed) {
  std::set<std::string> producers;
  std::set<std::size_t> nodes, bytes;
  std::set<std::int64_t> opsets;
  for (int seed = 0; seed < 2 * kSeeds; ++seed) {
    const std::string model = make_model(name_of(GetParam(), seed));
    const onnx::ModelSummary summary = onnx::summarise(imported(model));
    producers.insert(summary.producer);
    opsets.insert(summary.opsets.at(""));
    nodes.insert(summary.nodes);
    bytes.insert(model.size());
    EXPECT_LT(model.size(), 37u << 20);
  }
  EXPECT_EQ(producers.size(), 4u) << "with their versions";
  EXPECT_GE(opsets.size(), 3u);
  EXPECT_GE(nodes.size(), 5u);
  EXPECT_GE(bytes.size(), 9u);
}

INSTANTIATE_TEST_SUITE_P(Corpus, EachFamily, ::testing::ValuesIn(family_names()),
                         [](const auto& family) { return family.param; });

TEST(Corpus, FamiliesAreSplitAsAWhole) {
  std::map<Split, int> counts;
  for (const FamilyInfo& family : families()) ++counts[family.split];
  EXPECT_GE(families().size(), 12u);
  EXPECT_EQ(counts.size(), 3u);
  EXPECT_EQ(expanded("corpus:train:0-24").size(), 25u * static_cast<std::size_t>(counts[Split::train]));
}

TEST(Corpus, ARangeOrASplitStandsForItsModels) {
  EXPECT_THAT(expanded("corpus:vit:7"), ElementsAre("corpus:vit:7"));
  EXPECT_THAT(expanded("corpus:vit:7-9"), ElementsAre("corpus:vit:7", "corpus:vit:8", "corpus:vit:9"));
  EXPECT_THAT(expanded("corpus:test:0"),
              ElementsAre("corpus:convnext:0", "corpus:speech:0", "corpus:windowed:0"));
  EXPECT_THAT(expanded("models/a.onnx"), ElementsAre("models/a.onnx"));
}

std::string refusal(const std::string& name) {
  try {
    for (const std::string& model : expanded(name)) make_model(model);
  } catch (const CorpusError& error) {
    return error.what();
  }
  return "";
}

TEST(Corpus, WhatIsNoNameOfAModelIsAnErrorThatSaysMore) {
  EXPECT_THAT(refusal("corpus:residul:1"), HasSubstr("did you mean 'residual'? it has convnext, decoder"));
  EXPECT_THAT(refusal("corpus:xyz:1"), HasSubstr("no family 'xyz' (it has convnext"));
  for (const char* name :
       {"corpus:", "corpus:vit", "corpus:vit:", "corpus:vit:x", "corpus:vit:1x", "corpus:vit:-1",
        "corpus:vit:1-", "corpus:vit:1:2", "corpus:vit:99999999999999999999"})
    EXPECT_THAT(refusal(name), HasSubstr("corpus:FAMILY:SEED")) << name;
  EXPECT_THAT(refusal("corpus:vit:3-2"), HasSubstr("range"));
  EXPECT_THAT(refusal("corpus:vit:0-4000000000"), HasSubstr("at most"));
  EXPECT_THROW(make_model("corpus:vit:1-2"), CorpusError);
  EXPECT_THROW(make_model("corpus:train:1"), CorpusError) << "a split is no family";
}

}  // namespace
}
