#pragma once

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "launch/job/phases.h"

namespace regraft::launch::testing {

/// All that `train.phase` allows: "..., one of a, b".
inline std::vector<std::string> phase_names() {
  const std::string allowed = phase_option().allowed(), before = "one of ";
  std::istringstream words(allowed.substr(allowed.find(before) + before.size()));
  std::vector<std::string> names{std::istream_iterator<std::string>(words), {}};
  for (std::string& name : names) std::erase(name, ',');
  return names;
}

}
