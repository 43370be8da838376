#pragma once

#include <filesystem>

#include "core/exec/inputs/input_meaning.h"
#include "core/onnx/import.h"

namespace regraft::exec {

/// Follows each input of a model to where it is read, through ops that only move elements, and into bodies of
/// If, Loop and Scan. It is read as a shape, axis, index, length, k, repeat, pad, position, mask or
/// condition.
InputMeanings find_meanings(const onnx::ImportedModel& model);
/// The same of a file. Throws what import_model throws.
InputMeanings find_meanings(const std::filesystem::path& model);

}
