#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace regraft {

/// An .xz file of one stream, by liblzma. Neither a name nor a time is in it: the same text gives the same
/// bytes.
std::string xz(std::string_view text);

/// What xz packed; nothing where the bytes are truncated or damaged, or hold more than `most_bytes`.
std::optional<std::string> unxz(std::string_view packed, std::size_t most_bytes);

}
