#include "core/graph/attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/graph_error.h"

namespace regraft::graph {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Attributes, EachHasAnOnnxNameThatIsReadAgain) {
  for (std::size_t number = 0; number < static_cast<std::size_t>(Attr::count_); ++number) {
    const auto attr = static_cast<Attr>(number);
    EXPECT_FALSE(attr_name(attr).empty()) << number;
    EXPECT_EQ(attr_from_name(attr_name(attr)), attr) << attr_name(attr);
  }
  EXPECT_EQ(attr_name(Attr::trans_a), "transA");
  EXPECT_FALSE(attr_from_name("trans_a"));
}

TEST(Attributes, ValuesReadAsInTheRuleLanguage) {
  EXPECT_EQ(to_string(AttrValue(std::int64_t{-3})), "-3");
  EXPECT_EQ(to_string(AttrValue(0.5)), "0.5");
  EXPECT_EQ(to_string(AttrValue(Ints{})), "[]");
  EXPECT_EQ(to_string(AttrValue(Ints{1, -2})), "[1,-2]");
  EXPECT_EQ(to_string(AttrValue(std::string("NOTSET"))), "\"NOTSET\"");
}

TEST(Attributes, ABlockIsSortedWhateverTheOrder) {
  AttrBlock block{{Attr::perm, Ints{1, 0}}, {Attr::axis, std::int64_t{1}}};
  EXPECT_EQ(block, (AttrBlock{{Attr::axis, std::int64_t{1}}, {Attr::perm, Ints{1, 0}}}));
  EXPECT_EQ(block.entries().front().first, Attr::axis);
  block.set(Attr::axis, std::int64_t{2});
  EXPECT_EQ(block.entries().size(), 2u) << "replaced";
  EXPECT_EQ(block.integer(Attr::axis), 2);
  block.erase(Attr::axis);
  block.erase(Attr::axis);
  EXPECT_FALSE(block.has(Attr::axis));
  EXPECT_EQ(block.ints(Attr::perm), (Ints{1, 0}));
}

TEST(Attributes, AccessSaysWhatIsMissingOrOfAnotherType) {
  const AttrBlock block{{Attr::alpha, 0.5}, {Attr::mode, std::string("linear")}};
  EXPECT_EQ(block.real(Attr::alpha), 0.5);
  EXPECT_EQ(block.text(Attr::mode), "linear");
  EXPECT_THAT([&] { block.integer(Attr::axis); }, ThrowsMessage<GraphError>(HasSubstr("is missing")));
  EXPECT_THAT([&] { block.integer(Attr::alpha); }, ThrowsMessage<GraphError>(HasSubstr("is not an integer")));
  EXPECT_THAT([&] { block.ints(Attr::mode); },
              ThrowsMessage<GraphError>(HasSubstr("is not a list of integers")));
}

}  // namespace
}
