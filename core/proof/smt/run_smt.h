#pragma once

#include <string>

namespace regraft::proof {

/// What z3 says to an SMT-LIB text, in process: the words of its answers. Errors are words too.
std::string run_smt(const std::string& text);
/// Whether the answers are "unsat" and nothing else, at least once.
bool all_unsat(const std::string& answers);

}
