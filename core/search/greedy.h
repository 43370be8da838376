#pragma once

#include <memory>

#include "core/search/search.h"

namespace regraft::search {

/// Steepest descent: costs every candidate, takes the cheapest (the first of equals) and stops where none is
/// cheaper than the present graph by more than rounding.
std::unique_ptr<Search> make_greedy();

}
