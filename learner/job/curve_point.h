#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace regraft::learner {

/// A point of some curves, in RUN/events or a folder in it.
struct CurvePoint {
  std::string folder{};
  std::int64_t x = 0;
  std::vector<std::pair<std::string, double>> scalars{};
  std::vector<double> staleness{};  // in updates, of the results it stands for

  void add(const std::string& name, double value) { scalars.emplace_back(name, value); }
};

}
