#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/graph/tables.h"

namespace regraft::task {

/// Sizes of symbolic dims by name. "MODEL:batch" is the dim of one of several models.
using NamedSizes = std::map<std::string, std::int64_t>;

/// Several sizes of each dim: "batch=1", "64", "seq=128" is batch=1,64 and seq=128. `where` names the option
/// in errors. Throws UsageError.
std::map<std::string, std::vector<std::int64_t>> parse_size_lists(const std::vector<std::string>& texts,
                                                                  const std::string& where = "--bind");

/// One size of each dim: "batch=8" each. Throws UsageError.
NamedSizes parse_bindings(const std::vector<std::string>& texts, const std::string& where = "--bind");

/// The same, as texts that parse_bindings reads.
std::vector<std::string> binding_texts(const NamedSizes& sizes);

/// The name of a model's dim among several models.
std::string own_dim(const std::string& model, const std::string& dim);
/// The sizes for one model, under the names that its dims have: its own ones count before those for all.
NamedSizes sizes_for(const std::string& model, const NamedSizes& sizes);

/// The sizes for those symbols that the tables have.
graph::Bindings bind_symbols(const NamedSizes& sizes, const graph::Tables& tables);

}
