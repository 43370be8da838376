#pragma once

#include <pybind11/pybind11.h>

#include "core/task/workload.h"

namespace regraft::actors {

/// The options `workload.*` by their names without "workload.", as a dict of Python values. Throws
/// ConfigError on a key that there is not, a wrong type or a value out of range, naming the key and what is
/// allowed.
task::WorkloadOptions python_options(const pybind11::dict& values);

}
