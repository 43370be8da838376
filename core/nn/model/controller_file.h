#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/nn/model/controller_config.h"
#include "core/nn/model/weights.h"

namespace regraft::nn {

/// A controller as bytes: what a bundle holds.
struct ControllerFile {
  ControllerConfig config;
  Weights weights;
  std::string training_record = "{}";  // a JSON object, free in form

  bool operator==(const ControllerFile&) const = default;
};
std::vector<std::byte> encode_controller(const ControllerFile& controller);
/// Throws NnError on a truncated, damaged or foreign buffer.
ControllerFile decode_controller(std::span<const std::byte> bytes, const std::string& where);

}
