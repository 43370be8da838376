#include "launch/optimise/optimise_options.h"

#include "core/base/error.h"

namespace regraft::launch {

void OptimiseOptions::check() const {
  const bool elsewhere = runtime != Runtime::kDefault;
  if (accept == "cost" && elsewhere)
    throw UsageError("nothing is measured with --accept cost", "--runtime", "leave one of them out");
  if (settings && (accept == "cost" || elsewhere || re_exports()))
    throw UsageError("are ONNX Runtime's, and are measured", "--settings",
                     "leave it out, or --accept cost, --runtime and --search none");
}

cost::DeviceProfile OptimiseOptions::device_profile() const {
  cost::DeviceProfile profile =
      measures_kernels() ? profiled_runtime().device(rates()) : cost::load_device(rates());
  profile.each_alone |= costs == "alone";
  return profile;
}

}  // namespace regraft::launch
