#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/env/observation.h"

namespace regraft::actors {

/// An array within a PackedObservation.
struct PackedField {
  const char* name = "";
  char type = 0;                      // as in Python's module struct: f, i, I, H, b
  std::size_t offset = 0;             // bytes
  std::size_t rows = 0, columns = 0;  // 0 columns: one dimension
};

/// A copy of an observation in one piece of memory. A caller can keep it as long as it likes, and see its
/// arrays without copying them again.
class PackedObservation {
 public:
  explicit PackedObservation(const env::Observation& seen);

  std::span<const PackedField> fields() const { return fields_; }
  std::span<std::byte> bytes() { return {memory_.get(), size_}; }

 private:
  template <typename T>
  void add(const char* name, std::span<const T> values, std::size_t columns = 0);
  template <typename T>
  T* place(const char* name, std::size_t rows, std::size_t columns = 0);

  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_ = 0;  // written so far
  std::vector<PackedField> fields_;
};

}
