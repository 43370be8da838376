#include <nlohmann/json.hpp>

#include "core/base/enum_names.h"
#include "core/exec/kernels/kernel_lists.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {

nlohmann::json to_json(std::span<const cost::KernelSample> samples) {
  nlohmann::json json = nlohmann::json::array();
  for (const cost::KernelSample& sample : samples)
    json.push_back({{"op", sample.features.op_name()},
                    {"form", enum_name(sample.features.form)},
                    {"dtype", static_cast<int>(sample.features.dtype)},
                    {"sizes", sample.features.sizes},
                    {"analytic_us", sample.analytic_us},
                    {"measured_us", sample.measured_us},
                    {"source", enum_name(sample.source)}});
  return json;
}

std::vector<cost::KernelSample> samples_from_json(const nlohmann::json& json) {
  std::vector<cost::KernelSample> samples;
  try {
    for (const nlohmann::json& one : json) {
      auto features = cost::KernelFeatures::of_op(one.at("op").get<std::string>());
      features = features.value_or(cost::KernelFeatures());
      features->form = enum_value<cost::KernelForm>(one.at("form").get<std::string>()).value();
      features->dtype = static_cast<graph::DType>(one.at("dtype").get<int>());
      one.at("sizes").get_to(features->sizes);
      samples.push_back({std::move(*features), one.at("analytic_us"), one.at("measured_us"),
                         enum_value<cost::KernelSource>(one.at("source").get<std::string>()).value()});
    }
  } catch (const std::exception& error) {
    throw ExecError(std::string("not measured kernels: ") + error.what(), "kernels", "");
  }
  return samples;
}

}
