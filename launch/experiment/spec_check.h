#pragma once

#include <string>

#include "launch/experiment/spec.h"

namespace regraft::launch {

/// Names that others refer to exist, and a step only uses keys that the matrix has. Throws ExperimentError,
/// with `source` for the place.
void check_names(const ExperimentSpec& spec, const std::string& source);

/// Each value in a step's `only` is one of the matrix. For the full form: a small one may lack it. Steps that
/// are borrowed were checked where they are from. Throws ExperimentError.
void check_choices(const ExperimentSpec& spec, const std::string& source);

}  // namespace regraft::launch
