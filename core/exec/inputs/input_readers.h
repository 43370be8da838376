#pragma once

// Internal to core/exec: what an op's inputs mean.

#include <span>
#include <string_view>

#include "core/exec/inputs/input_meaning.h"

namespace regraft::exec {

/// One input of an op that says what its elements mean.
struct InputReader {
  enum class Limit : std::uint8_t { none, axis, first_dim, smallest_dim };

  std::string_view op;
  int slot;
  Meaning meaning;
  int data = -1;  // the input that it is used on; -1: none
  Limit limit = Limit::none;
  double low = 0, high = 8;  // of the meanings that have bounds
  int axis = 0;              // where the op has no attribute `axis`
};

/// All that are known, of ONNX's own ops and of com.microsoft's.
std::span<const InputReader> input_readers();

/// An op that only moves the elements of its inputs `first` to `last`, or picks some of them.
struct InputMover {
  std::string_view op;
  int first = 0, last = 0;
};
std::span<const InputMover> input_movers();

}
