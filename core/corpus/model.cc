#include "core/corpus/model.h"

#include <functional>
#include <numeric>

namespace regraft::corpus {

std::int64_t element_count(const Ints& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

std::size_t Model::weight_bytes() const {
  std::size_t bytes = 0;
  for (const Weight& weight : weights)
    bytes += static_cast<std::size_t>(element_count(weight.tensor.dims)) *
             (weight.tensor.element == Element::int64 ? 8 : 4);
  return bytes;
}

}
