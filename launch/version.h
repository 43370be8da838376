#pragma once

namespace regraft::launch {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace regraft::launch
