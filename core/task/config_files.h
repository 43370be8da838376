#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/rules/set/rule_set.h"

namespace regraft::task {

/// A file of the installation, such as configs/rules: beside the program, or the library that holds this
/// code: in the nearest folder above it that holds it. Relative paths that do not begin with configs/ are as
/// given where they exist from here; those that do are the installation's before they are anybody else's,
/// wherever it is called from, and a namesake here is warned of. Returned as given when it is nowhere.
std::filesystem::path find_config(const std::filesystem::path& path);

/// What the options and keys called "rules" name: a .rules file or a folder of them, of which the rules that
/// are proved or bounded_checked are loaded; a status ("tested", "bounded_checked", "proved"): the
/// installation's rules of this status or better; or both ("tested:mine.rules"). Rules that make ops of a
/// runtime's own domain are loaded only where the domain is allowed. Of other rules than the installation's
/// those that are left out for their status are named on standard error. Throws rules::RuleError.
rules::RuleSet load_rule_set(const std::filesystem::path& option,
                             const std::vector<std::string>& domains = {});

}  // namespace regraft::task
