#include "launch/optimise/optimise.h"

#include "core/exec/site/site_check.h"
#include "core/nn/inference/device.h"
#include "launch/optimise/pipeline.h"

namespace regraft::launch {

OptimiseReport optimise(const OptimiseOptions& options, const CallFiles& files) {
  nn::set_torch_threads(1);
  exec::set_oracle_threads(1);
  return Pipeline(options, files).run();
}

}
