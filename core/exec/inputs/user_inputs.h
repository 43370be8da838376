#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/exec/inputs/inputs.h"

namespace regraft::exec {

/// Inputs that the user gives: the same at every draw. Inputs that are not given are drawn by another source,
/// at the sizes that the given ones have.
class UserInputs : public InputSource {
 public:
  /// Takes one .npz file with an array for each input, or .pb files, or a folder of .pb files. Files are
  /// named after their inputs, or given in the order of the inputs. Those of a folder (input_0.pb,
  /// input_1.pb...) are taken in the order of their numbers. `others` draws what is not given; without it all
  /// must be given. Throws ExecError.
  static UserInputs load(std::span<const std::filesystem::path> paths,
                         std::unique_ptr<InputSource> others = nullptr);

  /// Throws ExecError where an input is missing or has another type or shape, and for an array that belongs
  /// to no input.
  std::vector<Tensor> draw(std::span<const ValueInfo> inputs, const SymbolSizes& sizes,
                           Rng& rng) const override;
  SymbolSizes sizes(std::span<const ValueInfo> inputs) const override;
  bool is_fixed() const override { return true; }
  std::string note() const override { return "compared on the inputs given, and on no others"; }

 private:
  const Tensor* tensor_for(const ValueInfo& info, std::size_t position) const;
  void check_names(std::span<const ValueInfo> inputs) const;

  std::map<std::string, Tensor> named_;
  std::vector<std::string> array_names_;  // of .npz files
  std::vector<Tensor> ordered_;
  std::unique_ptr<InputSource> others_;
};

}
