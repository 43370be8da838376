#include "core/proof/smt/z3_limits.h"

#include <mutex>

namespace regraft::proof {

// What an SMT-LIB text sets of it holds for the whole process from then on: so it is set for all at once.
void set_time_limit() {
  static std::once_flag once;
  std::call_once(once, [] { z3::set_param("timeout", static_cast<int>(kEndlessMilliseconds)); });
}

}
