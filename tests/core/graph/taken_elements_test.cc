#include "core/graph/taken_elements.h"

#include <gmock/gmock.h>

#include <limits>

namespace regraft::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Places = std::vector<std::int64_t>;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max(),
                       kMin = std::numeric_limits<std::int64_t>::min();

/// As the specification of Slice says it, a place at a time: the first is within the axis, and each that lies
/// a whole number of steps behind it, before the end, is taken.
Places walked(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (start < 0) start += size;
  if (end < 0) end += size;
  Places places;
  const std::int64_t first = std::max<std::int64_t>(std::min(start, step < 0 ? size - 1 : size), 0);
  for (std::int64_t count = 0; count < size; ++count) {
    const std::int64_t at = step < 0 ? first - count : first + count;
    const bool before_end = step < 0 ? at > end : at < end;
    if (at >= 0 && at < size && before_end && count % step == 0) places.push_back(at);
  }
  return places;
}

TEST(SlicePlaces, AreThoseThatTheSpecificationWalks) {
  std::vector<std::int64_t> bounds{kMin, kMin + 1, kMax - 1, kMax};
  for (std::int64_t bound = -7; bound <= 7; ++bound) bounds.push_back(bound);
  for (std::int64_t size = 0; size <= 5; ++size)
    for (const std::int64_t start : bounds)
      for (const std::int64_t end : bounds)
        for (const std::int64_t step : bounds) {
          if (step == 0) continue;
          ASSERT_EQ(slice_places(size, start, end, step), walked(size, start, end, step))
              << size << ": " << start << ", " << end << ", " << step;
        }
}

TEST(SlicePlaces, AreThoseOfOnnxsExamples) {
  EXPECT_THAT(slice_places(10, 0, 1000, 3), ElementsAre(0, 3, 6, 9));
  EXPECT_THAT(slice_places(20, -1, kMin, -9), ElementsAre(19, 10, 1));
  EXPECT_THAT(slice_places(5, 20, 0, -2), ElementsAre(4, 2)) << "the end is not taken";
  EXPECT_THAT(slice_places(3, -9, -1), ElementsAre(0, 1));
  EXPECT_THAT(slice_places(3, 2, 1), IsEmpty());
}

class TakenElements : public ::testing::Test {
 protected:
  static AttrBlock bounds(std::int64_t start, std::int64_t end) {
    return {{Attr::starts, Ints{start}}, {Attr::ends, Ints{end}}, {Attr::axes, Ints{0}}};
  }
  std::vector<Element> gathered(const std::vector<Element>& indices) const {
    return taken_elements(OpKind::gather, {{Attr::axis, std::int64_t{0}}}, from_, indices);
  }
  std::vector<Element> sliced(const AttrBlock& attrs) const {
    return taken_elements(OpKind::slice, attrs, from_, {});
  }

  const Element symbol_ = Element::of(symbol_dim(SymbolId{1})), unknown_ = {};
  const std::vector<Element> from_{Element::number(7), symbol_, unknown_, Element::number(-2)};
};

TEST_F(TakenElements, OfAGatherAreUnknownWhereTheIndexIsOrIsOutOfRange) {
  for (std::int64_t at = -6; at <= 6; ++at) {
    std::vector<Element> wanted{unknown_};
    for (std::int64_t place = 0; place < 4; ++place)
      if (at == place || at == place - 4) wanted[0] = from_[static_cast<std::size_t>(place)];
    EXPECT_EQ(gathered({Element::number(at)}), wanted) << at;
  }
  for (const std::int64_t far : {kMin, kMax})
    EXPECT_THAT(gathered({Element::number(far)}), ElementsAre(unknown_));
  EXPECT_THAT(gathered({symbol_, Element::number(-1), unknown_, Element::number(0)}),
              ElementsAre(unknown_, from_[3], unknown_, from_[0]));
  EXPECT_THAT(gathered({}), IsEmpty());
}

TEST_F(TakenElements, OfASliceAreThoseOfItsPlaces) {
  AttrBlock attrs = bounds(-3, kMax);
  EXPECT_THAT(sliced(attrs), ElementsAre(symbol_, unknown_, from_[3])) << "opset 1 has no steps";
  attrs.set(Attr::steps, Ints{2});
  EXPECT_THAT(sliced(attrs), ElementsAre(symbol_, from_[3]));
  attrs.set(Attr::steps, Ints{-1});
  EXPECT_THAT(sliced(attrs), IsEmpty()) << "backwards from 1, and not as far as 3";
}

TEST_F(TakenElements, OfWhatIsNotKnownThereAreNone) {
  AttrBlock computed;
  computed.set(Attr::axes, Ints{0});
  EXPECT_THAT(sliced(computed), IsEmpty()) << "from opset 10 on, bounds may be computed";
  computed.set(Attr::starts, Ints{0});
  EXPECT_THAT(sliced(computed), IsEmpty());
  EXPECT_THAT(sliced({{Attr::starts, Ints{}}, {Attr::ends, Ints{}}}), IsEmpty());
  EXPECT_THAT(taken_elements(OpKind::concat, bounds(0, 4), from_, from_), IsEmpty());
}

}  // namespace
}
