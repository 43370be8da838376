#pragma once

// Internal to core/exec/equivalence: a model with some of its inner values as outputs.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/exec/runtime/ort_session.h"

namespace regraft::exec {

/// Where a node's output comes from.
struct Producer {
  std::string op;  // op type
  std::vector<std::string> inputs;
  std::int64_t axis = 0;
  bool keeps_dims = true;
};

/// A copy of a model whose inner values can be read; external data is read where it lies. Costs the memory of
/// the model twice more while it is made, once more while it lives.
class IntermediateOutputs {
 public:
  /// The names of all values that nodes of the main graph make, in the order of the nodes. Throws ExecError.
  static std::vector<std::string> made_values(const std::filesystem::path& model);
  /// Nothing where no node of the main graph makes the value. Throws ExecError.
  static std::optional<Producer> producer_of(const std::filesystem::path& model, const std::string& value);

  /// Exposes the named values. Throws ExecError for a file that is no model, or has 2 GB without its external
  /// data. Throws what OrtSession throws.
  IntermediateOutputs(const std::filesystem::path& model, const std::vector<std::string>& names);

  /// The named values, in the order given to the constructor.
  std::vector<Tensor> run(std::span<const Tensor> inputs);

 private:
  std::vector<std::string> names_;
  std::unique_ptr<OrtSession> session_;
};

}
