#pragma once

#include <utility>

#include "core/base/error.h"

namespace regraft {

/// Does what a config asks with a file that it names. An error then is one of usage: it would come again, so
/// a supervisor that starts its process anew for any other error gives up.
template <typename Work>
auto named_by_config(Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const Error& error) {
    throw UsageError(error.problem(), error.where(), error.remedy());
  }
}

}
