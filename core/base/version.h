#pragma once

namespace regraft {

inline constexpr char kVersion[] = "0.1.0";

}
