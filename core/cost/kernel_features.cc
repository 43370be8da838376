#include "core/cost/kernel_features.h"

namespace regraft::cost {

std::string KernelFeatures::op_name() const {
  const std::string name(graph::op_info(kind).name);
  return op.empty() ? name : name + " " + op;
}

std::optional<KernelFeatures> KernelFeatures::of_op(std::string_view op_name) {
  const std::string opaque(graph::op_info(graph::OpKind::opaque).name);
  if (op_name.starts_with(opaque + " "))
    return KernelFeatures{.op = std::string(op_name.substr(opaque.size() + 1))};
  if (op_name == opaque) return KernelFeatures{};
  const auto kind = graph::op_from_name(op_name);
  return kind ? std::optional(KernelFeatures{.kind = *kind}) : std::nullopt;
}

std::string KernelFeatures::kernel_kind() const {
  std::string kind_name = op_name();
  if (form != KernelForm::plain)
    kind_name += " " + std::string(enum_names(form)[static_cast<std::size_t>(form)]);
  return kind_name + " " + graph::dtype_name(dtype);
}

}
