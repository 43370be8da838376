#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace regraft {

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b` (optimal string
/// alignment distance), in bytes.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`, the first of equals; none when all differ in more than a third of the
/// longer word (one edit up to three letters, two up to eight). Without regard to case.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

/// What to tell a user who wrote `word`: "did you mean 'x'?", else "one of a, b, c" when there are at most 12
/// candidates, else nothing.
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

/// True when the bytes are well-formed UTF-8 (RFC 3629).
bool is_utf8(std::string_view bytes);

/// The parts joined by `separator`.
std::string join(std::span<const std::string> parts, std::string_view separator);

}
