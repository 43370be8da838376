#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/rules/set/rule_set.h"

namespace regraft::task {

/// What the options and keys called "rules" name: a .rules file or a folder of them; its rules that are
/// proved or bounded_checked are loaded. Or a status ("tested", "bounded_checked", "proved"): the
/// installation's rules of this status or better. Or both ("tested:mine.rules"). Rules that make ops of a
/// runtime's own domain are loaded only where the domain is allowed. Of other rules than the installation's
/// those that are left out for their status are named on standard error. Throws rules::RuleError.
rules::RuleSet load_rule_set(const std::filesystem::path& option,
                             const std::vector<std::string>& domains = {});

}
