#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include "core/rules/examples/choices.h"
#include "core/rules/examples/example_limits.h"
#include "core/rules/examples/rule_hints.h"

namespace regraft::rules {

/// Chooses dims of images and of the windows that go over them.
class ExampleWindows {
 public:
  using Dims = graph::Ints;

  ExampleWindows(Choices& choices, const ExampleLimits& limits) : choices_(choices), limits_(limits) {}

  // Kernel and group of the weight chosen last.
  const Dims& kernel() const { return kernel_; }
  std::int64_t group() const { return group_; }
  /// Reads kernel and group of a convolution whose operands are there, the weight perhaps computed.
  void read_weight(const Dims& image, const Dims& weight) {
    if (weight.size() < 3 || weight.size() != image.size()) return;
    kernel_.assign(weight.begin() + 2, weight.end());
    if (weight[1] > 0 && image[1] % weight[1] == 0) group_ = image[1] / weight[1];
  }

  /// Dims of what a convolution's weight is computed from. They are those of the one before more often than
  /// not, so that the parts of a weight fit, and the weights of one image.
  Dims weight_part(const RankRange& range) {
    if (range.most < 3) return Dims(range.most, 1);
    if (!part_.empty() && of_rank(part_, range) && choices_.drawn(4) > 0) return part_;
    if (!image_.empty() && of_rank(image_, range)) {
      group_ = some_group(image_[1]);
      return part_ = weight_dims(image_);
    }
    part_ = {choices_.pick({1, 2}), choices_.pick({1, 2})};
    if (choices_.drawn(6) == 0) part_[choices_.drawn(2)] = 3 + static_cast<std::int64_t>(choices_.drawn(2));
    const Dims window = each(spatial_dims(range), {1, 1, 3});
    part_.insert(part_.end(), window.begin(), window.end());
    if (choices_.drawn(6) == 0) part_.back() = 2;
    return part_;
  }
  /// Dims of what the image of such a convolution is computed from.
  Dims image_part(const RankRange& range) {
    if (range.most < 3) return Dims(range.most, 1);
    if (!image_.empty() && of_rank(image_, range) && choices_.drawn(4) > 0) return image_;
    if (!part_.empty() && of_rank(part_, range)) return image_for(part_);
    image_ = image_dims();
    const std::size_t rank = spatial_dims(range) + 2;
    while (image_.size() < rank) image_.push_back(4);
    image_.resize(rank);
    return image_;
  }

  /// Once in a while, a size that the rule names, one more, or two times that.
  std::optional<std::int64_t> near_named(std::int64_t most) {
    const graph::Ints& named = limits_.numbers.whole;
    if (named.empty() || choices_.drawn(3) > 0) return std::nullopt;
    const std::int64_t number = named[choices_.drawn(named.size())];
    const std::array near = {number, number + 1, 2 * number};
    const std::int64_t size = near[choices_.drawn(near.size())];
    return size <= most ? std::optional(size) : std::nullopt;
  }

  /// All the same, or each for itself.
  graph::Ints each(std::size_t count, const Dims& from) {
    graph::Ints out(count, choices_.pick(from));
    if (count > 1 && !limits_.few_windows && choices_.one_in(3)) {
      for (std::int64_t& v : out) v = choices_.pick(from);
    }
    return out;
  }
  /// Padding of a window, before and behind.
  graph::Ints pads(std::size_t spatial) {
    graph::Ints out = each(2 * spatial, {0, 0, 1});
    if (!out.empty() && choices_.drawn(4) == 0) ++out[choices_.drawn(out.size())];
    if (choices_.drawn(6) == 0)  // what keeps the size, with holes of two
      out.assign(out.size(), near_named(kMostPad).value_or(2));
    return out;
  }

 protected:
  // The image chosen last where the weight fits it, else one that is made for it.
  Dims image_for(const Dims& weight) {
    if (weight.size() < 3 || fit(image_, weight)) return image_.empty() ? weight : image_;
    image_ = {choices_.pick({1, 2}), weight[1] * some_group(weight[0])};
    for (std::size_t i = 2; i < weight.size(); ++i)
      image_.push_back(std::max<std::int64_t>(3, weight[i]) + static_cast<std::int64_t>(choices_.drawn(2)));
    return image_;
  }
  static bool fit(const Dims& image, const Dims& weight) {
    if (image.size() != weight.size() || weight[1] == 0 || image[1] % weight[1] != 0) return false;
    const std::int64_t group = image[1] / weight[1];
    return group > 0 && weight[0] % group == 0;
  }
  static bool of_rank(const Dims& dims, const RankRange& range) {
    return dims.size() >= range.least && dims.size() <= range.most;
  }
  std::size_t spatial_dims(const RankRange& range) {
    if (range.least > 3) return range.least - 2;
    return limits_.one_spatial_dim || range.most == 3 || choices_.drawn(4) == 0 ? 1 : 2;
  }

  // A number of groups that divides the channels.
  std::int64_t some_group(std::int64_t channels) {
    Dims groups = {1};
    if (const auto named = near_named(kMostChannels); named && channels % *named == 0) return *named;
    for (std::int64_t g : {1, 2, 3, 4, 8}) {
      if (channels % g == 0) groups.push_back(g);
    }
    return choices_.pick(groups);
  }

  Dims image_dims() {
    Dims dims;
    if (limits_.few_windows)
      dims = {choices_.pick({1, 2}), choices_.pick({2, 8}), 4};
    else if (limits_.one_spatial_dim)
      dims = {choices_.pick({1, 2}), choices_.pick({2, 4}), choices_.pick({3, 4})};
    else
      dims = {choices_.pick({1, 2}), choices_.pick({2, 4, 8}), choices_.pick({4, 5}), choices_.pick({4, 6})};
    if (choices_.drawn(8) == 0) dims[1] = choices_.drawn(2) == 0 ? 3 : 6;
    if (choices_.drawn(4) == 0) dims[1] = near_named(kMostChannels).value_or(dims[1]);
    if (choices_.drawn(10) == 0) std::fill(dims.begin() + 2, dims.end(), near_named(kMostPixels).value_or(1));
    return dims;
  }

  Dims weight_dims(const Dims& first) {
    kernel_ = each(first.size() - 2, {1, 1, 3});
    if (choices_.drawn(6) == 0) {  // or as long as the image
      const std::size_t at = choices_.drawn(kernel_.size());
      kernel_[at] = choices_.drawn(2) == 0 ? 2 : first[at + 2];
    }
    if (choices_.drawn(4) == 0)
      if (const auto named = near_named(kMostKernel)) kernel_.assign(kernel_.size(), *named);
    Dims dims = {group_ * choices_.pick({1, 2}), first[1] / group_};
    if (choices_.drawn(6) == 0) dims[0] = group_ * (3 + static_cast<std::int64_t>(choices_.drawn(3)));
    dims.insert(dims.end(), kernel_.begin(), kernel_.end());
    return dims;
  }

  // Most that is taken of what the rule names: more would take long.
  static constexpr std::int64_t kMostPad = 4, kMostChannels = 64, kMostPixels = 12, kMostKernel = 9;

  Choices& choices_;
  const ExampleLimits& limits_;
  std::int64_t group_ = 1;
  Dims image_;  // chosen last, for other convolutions by its weights
  Dims kernel_;
  Dims part_;  // of a computed weight, chosen last
};

}
