#include "core/exec/inputs/input_meaning.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/graph/dim_formula.h"
#include "core/graph/graph_error.h"

namespace regraft::exec {
namespace {

using Integers = std::vector<std::int64_t>;

/// Draws for one meaning at given sizes.
class Drawer {
 public:
  Drawer(const InputMeaning& meaning, std::size_t count, const SymbolSizes& sizes, Rng& rng)
      : meaning_(meaning), count_(count), rng_(rng) {
    for (const Extent& dim : meaning.dims) dims_.push_back(dim.at(sizes).value_or(1));
    for (const Extent& limit : meaning.limits) limit_ = std::min(limit_, limit.at(sizes).value_or(1));
  }

  Integers draw() {
    switch (meaning_.meaning) {
      case Meaning::index:
        return each([this] {
          return between(std::max<std::int64_t>(0, -meaning_.offset), limit_ - meaning_.offset);
        });
      case Meaning::count:
        return each([this] { return between(1, limit_ + 1); });
      case Meaning::start:
        return each_axis([this](std::int64_t dim) { return between(0, std::max<std::int64_t>(1, dim / 2)); });
      case Meaning::end:
        return each_axis([this](std::int64_t dim) { return between(dim / 2 + 1, dim + 1); });
      case Meaning::repeats:
        return each([this] { return between(1, 3); });
      case Meaning::pads:
        return each([this] { return between(0, 2); });
      case Meaning::choice:
        return each([this] { return meaning_.values[rng_.below(meaning_.values.size())]; });
      case Meaning::axis:
        return axes([](std::int64_t) { return true; }, dims_.size());
      case Meaning::unit_axis:
        return axes([this](std::int64_t axis) { return dims_[static_cast<std::size_t>(axis)] == 1; },
                    dims_.size());
      case Meaning::new_axis:
        return axes([](std::int64_t) { return true; }, dims_.size() + count_);
      case Meaning::parts:
        return parts();
      case Meaning::shape:
        return part_of(reshaped());
      case Meaning::image:
        return part_of(image());
      case Meaning::unpooled:
        return part_of(unpooled());
      case Meaning::sizes:
        return part_of(aligned());
      default:
        return each([this] {
          return between(static_cast<std::int64_t>(meaning_.low), static_cast<std::int64_t>(meaning_.high));
        });
    }
  }

 private:
  static constexpr std::int64_t kNoLimit = 8;

  std::int64_t between(std::int64_t low, std::int64_t high) {
    if (high <= low) return low;
    return low + static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(high - low)));
  }

  template <typename Next>
  Integers each(Next next) {
    Integers values(count_);
    std::ranges::generate(values, next);
    return values;
  }

  /// One value for each axis in turn, of the first `count_` ones.
  template <typename Next>
  Integers each_axis(Next next) {
    Integers values;
    for (std::size_t i = 0; i < count_; ++i) values.push_back(next(i < dims_.size() ? dims_[i] : 1));
    return values;
  }

  /// Distinct axes in ascending order, of those below `rank` that are good.
  template <typename Good>
  Integers axes(Good good, std::size_t rank) {
    Integers all;
    for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(rank); ++axis)
      if (good(axis)) all.push_back(axis);
    for (std::size_t i = 0; i + 1 < all.size(); ++i) std::swap(all[i], all[i + rng_.below(all.size() - i)]);
    all.resize(count_, 0);
    std::ranges::sort(all);
    return all;
  }

  Integers parts() {
    const auto axis = static_cast<std::size_t>(meaning_.axis);
    const std::int64_t dim = axis < dims_.size() ? dims_[axis] : 1;
    Integers sizes(count_, count_ == 0 ? 0 : dim / static_cast<std::int64_t>(count_));
    if (count_ > 0) sizes.back() += dim - std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    return sizes;
  }

  std::size_t whole() const { return meaning_.total > 0 ? static_cast<std::size_t>(meaning_.total) : count_; }

  /// The elements of a shape that the input holds.
  Integers part_of(const Integers& shape) const {
    const auto from = std::min(static_cast<std::size_t>(meaning_.place), shape.size());
    Integers part(shape.begin() + static_cast<std::ptrdiff_t>(from), shape.end());
    part.resize(count_, 1);
    return part;
  }

  /// The dims in another rank: ones in front, or the last ones as one.
  Integers reshaped() const {
    const std::size_t rank = whole();
    Integers shape = dims_;
    if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), 1);
    if (shape.size() > rank && rank > 0) {
      shape.resize(rank);
      shape.back() = -1;
    }
    return shape;
  }

  /// Each axis but the last gets as few places as its padding allows, the last one the rest.
  Integers image() const {
    Integers shape;
    std::int64_t places = dims_.empty() ? 1 : dims_.back();
    for (std::size_t axis = 0; axis < whole(); ++axis) {
      std::int64_t mine = axis + 1 == whole() ? places : 1;
      while (mine < places && (extent(axis, mine) < 1 || places % mine != 0)) ++mine;
      places /= std::max<std::int64_t>(1, mine);
      shape.push_back(extent(axis, mine));
    }
    return shape;
  }

  /// Batch and channels stay.
  Integers unpooled() const {
    Integers shape = dims_;
    for (std::size_t axis = 2; axis < shape.size(); ++axis) shape[axis] = extent(axis - 2, shape[axis]);
    return shape;
  }

  /// The size of an image's axis that has so many places for a window.
  std::int64_t extent(std::size_t axis, std::int64_t places) const {
    const bool known = 2 * axis + 1 < meaning_.values.size();
    return (places - 1) * (known ? meaning_.values[2 * axis] : 1) + 1 -
           (known ? meaning_.values[2 * axis + 1] : 0);
  }

  /// The dims from the last one on, ones in front.
  Integers aligned() const {
    const std::size_t rank = whole();
    Integers shape = dims_;
    if (shape.size() > rank) shape.erase(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(rank));
    shape.insert(shape.begin(), rank - shape.size(), 1);
    return shape;
  }

  const InputMeaning& meaning_;
  std::size_t count_;
  Rng& rng_;
  Integers dims_;
  std::int64_t limit_ = meaning_.limits.empty() ? kNoLimit : std::numeric_limits<std::int64_t>::max();
};

nlohmann::json to_json(const std::vector<Extent>& extents) {
  nlohmann::json json = nlohmann::json::array();
  for (const Extent& extent : extents)
    json.push_back(extent.size >= 0 ? nlohmann::json(extent.size) : nlohmann::json(extent.formula));
  return json;
}

std::vector<Extent> extents_from_json(const nlohmann::json& json) {
  std::vector<Extent> extents;
  for (const auto& item : json)
    extents.push_back(item.is_number() ? Extent{item.get<std::int64_t>(), {}}
                                       : Extent{-1, item.get<std::string>()});
  return extents;
}

}  // namespace

std::optional<std::int64_t> Extent::at(const SymbolSizes& sizes) const {
  if (size >= 0) return size;
  const auto lookup = [&](std::string_view name) -> std::optional<std::int64_t> {
    const auto found = sizes.find(std::string(name));
    return found == sizes.end() ? std::nullopt : std::optional(found->second);
  };
  if (const auto named = lookup(formula)) return named;
  try {
    return graph::evaluate_formula(formula, lookup);
  } catch (const graph::GraphError&) {
    return std::nullopt;  // it has no size there
  }
}

std::vector<std::int64_t> draw_meant(const InputMeaning& meaning, std::size_t count, const SymbolSizes& sizes,
                                     Rng& rng) {
  return Drawer(meaning, count, sizes, rng).draw();
}

nlohmann::json to_json(const InputMeanings& meanings) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, m] : meanings)
    json[name] = {
        {"meaning", static_cast<int>(m.meaning)},
        {"low", m.low},
        {"high", m.high},
        {"limits", to_json(m.limits)},
        {"dims", to_json(m.dims)},
        {"axis", m.axis},
        {"offset", m.offset},
        {"values", m.values},
        {"place", m.place},
        {"total", m.total},
        {"reader", m.reader},
    };
  return json;
}

InputMeanings meanings_from_json(const nlohmann::json& json) {
  InputMeanings meanings;
  for (const auto& [name, item] : json.items())
    meanings[name] = {static_cast<Meaning>(item.at("meaning").get<int>()),
                      item.at("low"),
                      item.at("high"),
                      extents_from_json(item.at("limits")),
                      extents_from_json(item.at("dims")),
                      item.at("axis"),
                      item.at("offset"),
                      item.at("values"),
                      item.at("place"),
                      item.at("total"),
                      item.at("reader")};
  return meanings;
}

}
