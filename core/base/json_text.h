#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace regraft {

/// JSON as text. Of bytes that are no UTF-8, as names in models may have, it has a replacement character.
std::string json_text(const nlohmann::json& json, int indent = -1);

}
