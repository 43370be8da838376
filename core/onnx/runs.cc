#include "core/onnx/runs.h"

#include <cstdio>

namespace regraft::onnx {

Runs Runs::times_each(const Runs& inner) const {
  Runs both{times * inner.times, lengths};
  both.lengths.insert(both.lengths.end(), inner.lengths.begin(), inner.lengths.end());
  return both;
}

double Runs::at(const graph::Bindings& bindings) const {
  double count = times;
  for (const graph::Dim length : lengths) count *= static_cast<double>(bindings.value(length));
  return count;
}

std::string Runs::describe(const graph::Tables& tables) const {
  double count = times;
  std::string symbols;
  for (const graph::Dim length : lengths) {
    if (graph::is_symbol(length))
      symbols += " * " + tables.symbol_name(graph::dim_symbol(length));
    else
      count *= static_cast<double>(length);
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.0f", count);
  return text + symbols;
}

}
