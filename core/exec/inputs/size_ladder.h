#pragma once

// Internal to core/exec: which sizes of a dynamic dim are worth a try.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/exec/inputs/input_meaning.h"
#include "core/exec/runtime/tensor.h"

namespace regraft::exec {

/// What a dim counts, as its place, its name and what reads it say.
enum class DimKind : std::uint8_t { batch, length, image, samples, channels, fixed };

/// A size to try, and what speaks for it: "usual batch".
struct SizeOption {
  std::int64_t size = 1;
  std::string why;
};

struct DynamicDim {
  std::string name;
  DimKind kind = DimKind::batch;
  std::vector<SizeOption> options;  // the most usual first; never empty
  std::vector<SizeOption> cheap;    // the same, those first at which a run costs little and likely succeeds
};

/// The dynamic dims of a model's inputs, in the order of the inputs. A dim that a weight fixes (the rows of a
/// MatMul's, the channels of a Conv's) has that size first. Then come usual sizes of its kind, sizes that the
/// inputs declare elsewhere, and the model's own constants. Floats that are meant as indices are tokens, no
/// samples. Throws ExecError on what is not a model.
std::vector<DynamicDim> dynamic_dims(const std::filesystem::path& model, std::span<const ValueInfo> inputs,
                                     const InputMeanings& meanings);

/// The size of a dim that the model names by others of these: "past_length + 1".
std::optional<std::int64_t> derived_size(const std::string& name, SymbolSizes sizes);

/// Throws UsageError for a name that none of the dims has.
void require_dim(const std::string& name, std::span<const DynamicDim> dims);

}
