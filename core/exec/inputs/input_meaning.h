#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/exec/runtime/tensor.h"

namespace regraft::exec {

/// What the elements of an input stand for, as the ops that read them say. Later ones determine more: where
/// an input is read in several ways, the last one counts.
enum class Meaning : std::uint8_t {
  number,      // floats: standard normal; integers: `low` to `high`
  real,        // floats: uniform in [low, high)
  mask,        // 0 and 1: in each row some ones, then zeros
  score_mask,  // added to the scores of a softmax: 0, then a very negative number
  choice,      // one of `values`: what it is compared with
  integer,     // uniform in [low, high)
  zero_point,  // of small integers any of them, of others 0
  index,       // looks up along an axis: at least 0, below the least of `limits`
  count,       // of elements of an axis: 1 to the least of `limits`
  start,       // of a slice: in the first half of an axis of `dims`
  end,         // of a slice: in the second half, or its end
  repeats,     // of an axis: 1 or 2
  pads,        // 0 or 1 at each side
  axis,        // an axis of `dims`; several are distinct
  unit_axis,   // an axis of `dims` whose size is 1
  new_axis,    // where an axis is inserted
  parts,       // sizes of the parts of an axis of `dims`
  shape,       // of as many elements as `dims` have
  image,       // the size of an image with as many places for a window of 1 as the last of `dims` says
  unpooled,    // the size of an image whose pooled places `dims` are
  sizes,       // a shape that `dims` broadcast or are resized to
};

/// A size: a number, or a formula over the names of dynamic dims ("(2*n)").
struct Extent {
  std::int64_t size = -1;
  std::string formula;

  /// Nothing where a name in it has no size.
  std::optional<std::int64_t> at(const SymbolSizes& sizes) const;
  bool operator==(const Extent&) const = default;
};

/// What an input means.
struct InputMeaning {
  Meaning meaning = Meaning::number;
  double low = 0, high = 8;           // half open
  std::vector<Extent> limits;         // each is one
  std::vector<Extent> dims;           // of the tensor that it is used on
  std::int64_t axis = 0;              // of `dims`, where one is meant
  std::int64_t offset = 0;            // what the model adds to it before it is read
  std::vector<std::int64_t> values;   // to choose from; of images stride and padding of each axis
  std::int64_t place = 0, total = 0;  // of a vector of `total` elements it is those from `place` on; 0: all
  std::string reader;                 // the op that says so: "indices of Gather"

  bool operator==(const InputMeaning&) const = default;
};

/// By input name; inputs of which nothing is known are absent.
using InputMeanings = std::map<std::string, InputMeaning>;

/// `count` integers that mean this. Unknown sizes count as 1.
std::vector<std::int64_t> draw_meant(const InputMeaning& meaning, std::size_t count, const SymbolSizes& sizes,
                                     Rng& rng);

nlohmann::json to_json(const InputMeanings& meanings);
/// Reads what to_json wrote. Throws nlohmann::json::exception.
InputMeanings meanings_from_json(const nlohmann::json& json);

}
