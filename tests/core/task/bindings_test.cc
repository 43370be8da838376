#include "core/task/bindings.h"

#include <gmock/gmock.h>

#include "core/base/error.h"

namespace regraft::task {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Bindings, SizesWithoutANameBelongToTheNameBefore) {
  EXPECT_THAT(parse_size_lists({"batch=1", "64", "seq=128"}),
              ElementsAre(Pair("batch", ElementsAre(1, 64)), Pair("seq", ElementsAre(128))));
  EXPECT_THAT(parse_size_lists({"a=b=2"}), ElementsAre(Pair("a=b", ElementsAre(2))));
}

TEST(Bindings, WhatIsNoSizeIsRefused) {
  for (const char* text : {"batch", "8", "=8", "batch=", "batch=0", "batch=-1", "batch=1.5", "batch=8x"})
    EXPECT_THROW(parse_size_lists({text}), UsageError) << text;
  EXPECT_THROW(parse_size_lists({"batch=1", "batch=2"}), UsageError) << "bound twice";
}

TEST(Bindings, OneSizeEachWhereOneIsWanted) {
  EXPECT_THAT(parse_bindings({"batch=8", "seq=2"}), ElementsAre(Pair("batch", 8), Pair("seq", 2)));
  EXPECT_THROW(parse_bindings({"batch=8", "16"}), UsageError);
}

TEST(Bindings, AModelsOwnSizesCountBeforeThoseForAll) {
  const NamedSizes sizes{{"batch", 8}, {"a:batch", 2}, {"a:x:0.1", 3}, {"b:seq", 4}};
  EXPECT_THAT(sizes_for("a", sizes), ElementsAre(Pair("b:seq", 4), Pair("batch", 2), Pair("x:0.1", 3)));
  EXPECT_THAT(sizes_for("c", sizes)["batch"], 8);
  EXPECT_EQ(parse_bindings(binding_texts(sizes)), sizes);
}

}  // namespace
}
