#pragma once

#include "core/graph/attributes.h"
#include "core/rules/compile/rule_numbers.h"

namespace regraft::rules {

/// What examples are made of. The defaults are for random draws; an enumeration wants few of each.
struct ExampleLimits {
  graph::Ints dims = {1, 2, 3, 4};
  std::size_t most_rank = 4;
  std::size_t most_members = 3;  // of a set
  bool one_spatial_dim = false;  // convolutions and pooling have one, or two
  bool few_windows = false;      // few sizes of images and groups
  bool constants_vary = true;    // what no guard speaks of may be a constant, or only an input
  bool types_vary = true;        // where a rule only moves or compares elements they may be integers
  // And with it some are doubles, or half floats: what is drawn first is the same all through an enumeration.
  bool doubles = true;
  bool fitting = false;  // sizes of parts and dims that guards compare agree more often than by chance alone
  /// Numbers of the rule: some attributes, dims and groups are on, beside or beyond one of them.
  RuleNumbers numbers = {};
};

}
