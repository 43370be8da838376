#pragma once

#include <string>

#include "core/corpus/model.h"

namespace regraft::corpus {

/// The model as bytes of an .onnx file. Its weights are drawn while they are written: windows of one block of
/// numbers from `seed`, whose length is a prime, scaled. That is quick, and rows of a weight differ. The same
/// model and seed give the same bytes.
std::string model_bytes(const Model& model, std::uint64_t seed);

}
