#pragma once

#include <string>
#include <vector>

#include "core/graph/tables.h"

namespace regraft::onnx {

/// How often a loop runs whose length no constant says.
inline constexpr double kGuessedTrips = 10;

/// How often a graph runs for one run of the model.
struct Runs {
  double times = 1;
  std::vector<graph::Dim> lengths;  // times these

  Runs times_each(const Runs& inner) const;
  double at(const graph::Bindings& bindings) const;
  std::string describe(const graph::Tables& tables) const;  // "1", "10 * n"
};

}
