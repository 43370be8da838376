#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>

#include "core/rules/examples/example_attributes.h"
#include "core/rules/examples/example_leaves.h"
#include "core/rules/examples/example_shapes.h"

namespace regraft::rules {

/// Chooses values of attributes of which nothing is known.
class ExampleValues {
  using K = graph::OpKind;
  using A = graph::Attr;

 public:
  ExampleValues(Choices& choices, ExampleShapes& shapes, ExampleLeaves& leaves, const ExampleLimits& limits)
      : choices_(choices), shapes_(shapes), leaves_(leaves), limits_(limits) {}

  /// Starts and, if not empty, steps of the slice whose other attributes are chosen next.
  void slice_from(const graph::Ints& starts, const graph::Ints& steps) {
    starts_ = starts;
    steps_ = steps.size() == starts.size() ? steps : graph::Ints(starts.size(), 1);
    given_ = true;
  }

  /// A value for an op whose first operand has dims x, with so many outputs. Nothing: the attribute is left
  /// out.
  std::optional<graph::AttrValue> choose(K kind, const graph::AttrSpec& spec, const graph::Ints& x,
                                         std::size_t outputs) {
    const std::size_t spatial = x.size() > 2 ? x.size() - 2 : 0;
    switch (spec.attr) {
      case A::kernel_shape:
        return kind == K::conv ? shapes_.kernel() : shapes_.each(spatial, {1, 2, 3});
      case A::strides:
        return three_of(shapes_.each(spatial, {1, 1, 2}));
      case A::pads:
        return kind == K::pad ? frame(x) : shapes_.pads(spatial);
      case A::dilations:
        return three_of(shapes_.each(spatial, {1, 1, 1, 2}));
      case A::group:
        return shapes_.group();
      case A::alpha:
      case A::beta:
        return choices_.one_in(2) ? 1.0 : choices_.drawn(8) == 0 ? 0.0 : leaves_.number();
      case A::epsilon:
        return epsilon(choices_.drawn(3) == 0);
      case A::trans_a:
        return shapes_.trans_a();
      case A::trans_b:
        return shapes_.trans_b();
      case A::ceil_mode:
        return choices_.pick({0, 0, 1});
      case A::count_include_pad:
      case A::keepdims:
        return choices_.pick({0, 1});
      case A::axis:
        if (kind == K::layer_norm) return shapes_.norm_axis();
        axis_ = x.empty() ? 0 : static_cast<std::int64_t>(choices_.below(x.size()));
        if (const auto joined = shapes_.joined_axis(); kind == K::concat && joined)
          axis_ = static_cast<std::int64_t>(*joined);
        return axis_;
      case A::axes:
        return axes(kind, x);
      case A::equation:
        return graph::Ints(shapes_.labels());
      case A::num_heads:
        return shapes_.heads();
      case A::scale:
        return leaves_.number();
      case A::perm:
        return some_permutation(x.size(), choices_);
      case A::shape:
        if (kind == K::resize) return sizes(x);
        return some_reshape(x, choices_);
      case A::split:
        return parts(outputs, x);
      case A::starts:
        return starts(x);
      case A::ends:
        return ends();
      case A::steps:
        return steps_;
      case A::value:
        return choices_.drawn(2) == 0 ? std::nullopt : std::optional<graph::AttrValue>(leaves_.number());
      case A::min:
        return bound({-0.5, -0.5, 0, -1, 0.25, -6, -20});
      case A::max:
        return bound({0.75, 0.75, 6, 1, 0, -0.25, 20});
      case A::approximate:
        return std::string(choices_.drawn(3) == 0 ? "tanh" : "none");
      case A::mode:
        return std::string(choices_.drawn(3) > 0 ? "constant" : choices_.drawn(2) == 0 ? "reflect" : "edge");
      case A::to:
        return some_type();
      case A::repeats:
        return some_repeats(x.size());
      default:
        return spec.fallback;
    }
  }

 private:
  // A bound of a Clip, which may have none, or the upper one below the lower.
  std::optional<graph::AttrValue> bound(std::initializer_list<double> values) {
    if (!choices_.one_in(2)) return std::nullopt;
    const double usual = values.begin()[choices_.drawn(values.size())];
    return leaves_.near_named().value_or(usual);
  }
  double epsilon(bool usual) {
    if (const auto named = leaves_.near_named(); named && *named != 0 && std::abs(*named) < 1)
      return std::abs(*named);
    return usual ? leaves_.small() : leaves_.real(0.02, 0.1);
  }
  // Strides or dilations, of which some are 3, or what the rule names.
  graph::Ints three_of(graph::Ints steps) {
    if (!steps.empty() && choices_.drawn(10) == 0)
      steps[choices_.drawn(steps.size())] = shapes_.near_named(kMostStep).value_or(3);
    return steps;
  }
  // The target of a Cast.
  std::int64_t some_type() {
    using graph::DType;
    constexpr std::array kTypes = {DType::float32, DType::float64, DType::float16, DType::int64,
                                   DType::int32,   DType::boolean, DType::uint8,   DType::int8,
                                   DType::int16,   DType::uint16,  DType::uint32};
    return static_cast<std::int64_t>(kTypes[choices_.drawn(kTypes.size())]);
  }
  // Repeats of a Tile.
  graph::Ints some_repeats(std::size_t rank) {
    graph::Ints out(rank);
    for (std::int64_t& n : out) n = 1 + static_cast<std::int64_t>(choices_.drawn(3));
    return out;
  }
  // Sizes of a Resize: dims from the third on, enlarged where they are one.
  graph::Ints sizes(const graph::Ints& x) {
    graph::Ints out;
    for (std::size_t i = 2; i < x.size(); ++i) out.push_back(x[i] == 1 ? choices_.pick({1, 2, 3}) : x[i]);
    return out;
  }
  // Pads of a Pad: what is added before and behind each dim, or cut off.
  graph::Ints frame(const graph::Ints& x) {
    graph::Ints out(2 * x.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<std::int64_t>(choices_.drawn(3));
      if (x[i % x.size()] > 2 && choices_.drawn(8) == 0) out[i] = -1;
    }
    return out;
  }

  graph::Ints axes(K kind, const graph::Ints& x) {
    graph::Ints out = some_axes(kind, x, choices_);
    const bool two = kind == K::slice                             ? starts_.size() > 1 && x.size() > 1
                     : kind == K::squeeze || kind == K::unsqueeze ? false
                                                                  : x.size() > 1 && choices_.drawn(4) == 0;
    if (!two) return out;
    const auto rank = static_cast<std::int64_t>(x.size());
    out.push_back((out[0] + 1 + static_cast<std::int64_t>(choices_.drawn(x.size() - 1))) % rank);
    for (std::int64_t more = 0; more < rank && kind != K::slice; ++more)
      if (std::ranges::find(out, more) == out.end() && choices_.drawn(2) == 0) out.push_back(more);
    for (std::int64_t more = 0; kind == K::slice && out.size() < starts_.size(); ++more)
      if (std::ranges::find(out, more) == out.end()) out.push_back(more);
    return out;
  }

  graph::Ints parts(std::size_t outputs, const graph::Ints& x) {
    const auto axis = static_cast<std::size_t>(axis_);
    const std::int64_t whole = axis < x.size() ? x[axis] : 0;
    if (whole >= static_cast<std::int64_t>(outputs) && choices_.drawn(4) > 0) {
      graph::Ints sizes(outputs, 1);
      for (std::int64_t left = whole - static_cast<std::int64_t>(outputs); left > 0; --left)
        ++sizes[choices_.drawn(outputs)];
      return sizes;
    }
    graph::Ints sizes(outputs, choices_.pick({1, 1, 2}));
    if (choices_.one_in(2)) sizes.back() = 2;
    if (choices_.drawn(8) == 0) sizes.front() = 3;
    return sizes;
  }

  // From the front or, sometimes, counted from the end; steps are chosen with them.
  graph::Ints starts(const graph::Ints& x) {
    given_ = false;
    if (shapes_.has_gates()) {
      steps_ = {1};
      return starts_ = {shapes_.start_of_gate()};
    }
    const std::size_t ways = steps_[0] > 1 ? 2 : 4;  // slices of slices, both in steps
    const bool three = x.size() > 2 && choices_.drawn(12) == 0;
    starts_.assign(three ? 3 : x.size() > 1 && choices_.drawn(4) == 0 ? 2 : 1, 0);
    steps_.assign(starts_.size(), 1);
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      if (!x.empty()) starts_[i] = static_cast<std::int64_t>(i == 0 ? choices_.below(2) : choices_.drawn(2));
      if (!x.empty() && choices_.drawn(4) == 0)
        starts_[i] = static_cast<std::int64_t>(
            choices_.drawn(static_cast<std::size_t>(std::max<std::int64_t>(1, x[0]))));
      if (choices_.drawn(8) == 0) starts_[i] = -1 - static_cast<std::int64_t>(choices_.drawn(2));
      if (choices_.drawn(ways) == 0) steps_[i] = 2 + static_cast<std::int64_t>(choices_.drawn(2));
    }
    return starts_;
  }
  graph::Ints ends() {
    if (shapes_.has_gates()) return {starts_[0] + shapes_.hidden()};
    graph::Ints out;
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      const std::int64_t more =
          i == 0 && !given_ ? choices_.pick({1, 2}) : 1 + static_cast<std::int64_t>(choices_.drawn(2));
      out.push_back(starts_[i] + (steps_[i] > 1 ? steps_[i] + more : more));
      if (starts_[i] < 0 && out.back() >= 0) out.back() = std::numeric_limits<std::int64_t>::max();
      if (choices_.drawn(steps_[i] > 1 ? 3 : 8) == 0)
        out.back() = choices_.drawn(2) == 0 ? -1 : std::numeric_limits<std::int64_t>::max();
    }
    return out;
  }

  static constexpr std::int64_t kMostStep = 5;

  Choices& choices_;
  ExampleShapes& shapes_;
  ExampleLeaves& leaves_;
  const ExampleLimits& limits_;
  std::int64_t axis_ = 0;                   // chosen last
  graph::Ints starts_ = {0}, steps_ = {1};  // of the slice whose attributes are chosen
  bool given_ = false;                      // by guards, not chosen: several slices of one tensor
};

}
