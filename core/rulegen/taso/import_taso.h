#pragma once

#include <cstdint>
#include <vector>

#include "core/rulegen/enumerate/term.h"
#include "core/rulegen/taso/taso_file.h"
#include "core/rulegen/taso/taso_import.h"
#include "core/rules/set/rule_set.h"

namespace regraft::rulegen {

/// A rule of the file as a pair of terms. TASO's convolutions have no group: it is the number of channels of
/// the input over that of the weight. Ops that TASO fuses (convolution with Relu) are their parts. Throws
/// RulegenError for what terms cannot say.
TermRule taso_term(const TasoRule& rule, std::vector<Form>& forms);

struct TasoOptions {
  std::size_t examples = 100;  // of each rule, on equal shapes and on others each
  std::uint64_t seed = 1;
  std::size_t derivation_steps = 3;  // of known rules that count as the same
};

/// Imports each rule: written in the rule language, tried on exact examples, guarded or refused by what they
/// say, compared with the rules of `known`.
TasoImport import_taso(const std::vector<TasoRule>& rules, const rules::RuleSet& known,
                       const TasoOptions& options);

}
