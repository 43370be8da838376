#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/graph/tables.h"

namespace regraft::actors {

/// Sizes of symbolic dims by name.
using NamedSizes = std::map<std::string, std::int64_t>;

/// "batch=8" each; `where` names the option in errors. Throws UsageError.
NamedSizes parse_bindings(const std::vector<std::string>& texts, const std::string& where = "--bind");

/// The sizes for those symbols that the tables have.
graph::Bindings bind_symbols(const NamedSizes& sizes, const graph::Tables& tables);

}  // namespace regraft::actors
