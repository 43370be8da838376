#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace regraft::launch {

/// A connected part of a graph that rewrites changed.
struct ChangedPart {
  struct Box {
    std::string text;                 // "MatMul", "weight"
    std::string type;                 // of its first output, or of the value that is read: "float32[1, n]"
    bool stays = false;               // the part reads it: an input, a weight, an operation as before
    std::vector<std::size_t> inputs;  // places of earlier boxes

    bool operator==(const Box&) const = default;
  };
  std::vector<Box> before, after;  // each behind what it reads
  std::size_t count = 1;           // of parts that look like this one
};

/// What rewrites changed between two states of a graph, whose ids are the same. Parts that look alike are
/// one.
std::vector<ChangedPart> changed_parts(const graph::Graph& before, const graph::Graph& after);

}
