#include "core/proof/smt/run_smt.h"

#include <sstream>

#include "core/proof/smt/z3_limits.h"

namespace regraft::proof {

std::string run_smt(const std::string& text) {
  set_time_limit();
  z3::context context;
  try {
    return Z3_eval_smtlib2_string(context, text.c_str());
  } catch (const z3::exception& e) {
    return e.msg();
  }
}

bool all_unsat(const std::string& answers) {
  std::istringstream words(answers);
  std::size_t count = 0;
  for (std::string word; words >> word; ++count) {
    if (word != "unsat") return false;
  }
  return count > 0;
}

}
