#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/exec/inputs/inputs.h"
#include "core/exec/runtime/ort_session.h"

namespace regraft::exec {

/// within_tolerance: outputs may differ by rounding. bit_equal: every output byte must agree, without the
/// runtime's optimiser and with all of it.
enum class Agreement : std::uint8_t { within_tolerance, bit_equal };

struct EquivalenceOptions {
  Agreement agreement = Agreement::within_tolerance;
  std::vector<SymbolSizes> points = {};  // sizes at which both must run; the first counts most
  SymbolSizes fixed = {};                // of dims for which alone the other model is made
  std::uint64_t seed = 0;                // of inputs and of the noise on them
  bool finite = false;    // no Inf and no NaN is drawn, and where the original makes some nothing is compared
  bool nonempty = false;  // no dim is 0
  int draws = 2;          // inputs drawn at the first binding; one at each other
  /// Seconds of the original's runs at sizes beside the bindings, at most half of them, and on extremes. The
  /// other model then runs on the same. As many again tell jumps from differences. A note says what was left
  /// out.
  double probe_s = std::numeric_limits<double>::infinity();
  /// A difference is not explained: neither where it begins, nor whether the original is random.
  bool verdict_only = false;
  std::optional<SessionOptions> session =
      {};  // of the other model, within tolerance: else as the original's, and with all optimisation
  const InputSource* inputs =
      nullptr;  // not owned; nullptr: RandomInputs with the meanings found in the original
};

}
