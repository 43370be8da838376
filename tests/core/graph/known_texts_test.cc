#include "core/graph/known_texts.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace regraft::graph {
namespace {

// A text attribute that the table forgot would take any text.
TEST(AttrTexts, EveryTextAttributeKnowsItsTextsAndItsDefaultAmongThem) {
  std::size_t texts = 0;
  for (std::size_t k = 0; k < kOpKinds; ++k) {
    const OpInfo& op = op_info(static_cast<OpKind>(k));
    for (const AttrSpec& spec : op.attrs) {
      const auto known = known_texts(op.kind, spec.attr);
      const std::string* fallback = spec.fallback ? std::get_if<std::string>(&*spec.fallback) : nullptr;
      EXPECT_EQ(known.empty(), fallback == nullptr) << op.name << " " << attr_name(spec.attr);
      if (fallback == nullptr) continue;
      EXPECT_NE(std::ranges::find(known, *fallback), known.end()) << op.name << " " << attr_name(spec.attr);
      ++texts;
    }
  }
  EXPECT_GE(texts, 2u);
}

}  // namespace
}
