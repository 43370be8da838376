#include "launch/optimise/optimise_options.h"

#include "core/base/error.h"
#include "core/cost/fusion_files.h"

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
  cost::DeviceProfile profile = measures_kernels() ? profiled_runtime().device(rates())
                                                   : cost::load_device(rates(), Runtime().version());
  if (costs == "alone") profile.fusing = cost::Fusing::nothing;
  return profile;
}

void OptimiseOptions::warn_of_fusions(double agreed_share) const {
  if (!profiled_runtime().is_default()) return;
  const std::string version = device_profile().fusions_version;
  const std::string warning = cost::fusions_warning(version, Runtime().version(), agreed_share);
  if (!warning.empty()) warn(warning);
}

}
