#pragma once

#include <string>
#include <string_view>

namespace regraft {

/// "1 thread", "2 threads".
std::string counted(int count, std::string_view noun);

}
