#include "core/rules/compile/op_names.h"

#include <algorithm>
#include <array>

namespace regraft::rules {
namespace {

using graph::Attr;
using graph::OpInfo;
using graph::OpKind;

constexpr std::array<std::pair<std::string_view, Attr>, 9> kShortNames = {{
    {"k", Attr::kernel_shape},
    {"s", Attr::strides},
    {"p", Attr::pads},
    {"d", Attr::dilations},
    {"g", Attr::group},
    {"ta", Attr::trans_a},
    {"tb", Attr::trans_b},
    {"eps", Attr::epsilon},
    {"sizes", Attr::split},
}};
constexpr std::array<std::string_view, 3> kClasses = {"Unary", "Binary", "Monotone"};

bool in_class(std::string_view name, const OpInfo& op) {
  if (!op.is(graph::kElementwise)) return false;
  if (name == "Binary") return op.min_inputs == 2 && op.max_inputs == 2;
  const bool unary = op.min_inputs == 1 && op.max_inputs == 1;
  return name == "Monotone" ? unary && op.is(graph::kMonotone) : unary;
}

bool takes(OpKind kind, Attr attr) {
  const auto attrs = graph::op_info(kind).attrs;
  return std::any_of(attrs.begin(), attrs.end(), [&](const graph::AttrSpec& s) { return s.attr == attr; });
}

}  // namespace

KindSet kinds_of(std::string_view name) {
  KindSet kinds;
  if (std::find(kClasses.begin(), kClasses.end(), name) != kClasses.end()) {
    for (std::size_t k = 0; k < graph::kOpKinds; ++k) {
      if (in_class(name, graph::op_info(static_cast<OpKind>(k)))) kinds.set(k);
    }
  } else if (const auto kind = graph::op_from_name(name)) {
    kinds.set(static_cast<std::size_t>(*kind));
  }
  return kinds;
}

graph::OpKind some_kind(const KindSet& kinds) {
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (kinds.test(k)) return static_cast<graph::OpKind>(k);
  }
  return graph::OpKind::opaque;
}

std::vector<std::string_view> known_op_names() {
  std::vector<std::string_view> names(kClasses.begin(), kClasses.end());
  for (std::size_t k = 0; k < graph::kOpKinds; ++k)
    names.push_back(graph::op_info(static_cast<OpKind>(k)).name);
  return names;
}

std::optional<Attr> attr_of(OpKind kind, std::string_view name) {
  for (const auto& [short_name, attr] : kShortNames) {
    if (short_name == name && takes(kind, attr)) return attr;
  }
  const auto attr = graph::attr_from_name(name);
  return attr && takes(kind, *attr) ? attr : std::nullopt;
}

std::optional<Attr> attr_at(OpKind kind, std::size_t position) {
  const auto attrs = graph::op_info(kind).attrs;
  return position < attrs.size() ? std::optional(attrs[position].attr) : std::nullopt;
}

std::vector<std::string_view> attr_names(OpKind kind) {
  std::vector<std::string_view> names;
  for (const graph::AttrSpec& spec : graph::op_info(kind).attrs) names.push_back(graph::attr_name(spec.attr));
  return names;
}

bool always_present(OpKind kind, Attr attr) {
  switch (attr) {
    case Attr::dilations:
    case Attr::kernel_shape:
    case Attr::output_padding:
    case Attr::perm:
    case Attr::split:
    case Attr::strides:
      return true;
    case Attr::pads:
      return kind != OpKind::pad;
    case Attr::axis: {  // a default of -1 is resolved against the rank
      const auto attrs = graph::op_info(kind).attrs;
      const auto spec =
          std::find_if(attrs.begin(), attrs.end(), [](const auto& s) { return s.attr == Attr::axis; });
      return !spec->fallback || std::get<std::int64_t>(*spec->fallback) < 0;
    }
    default:
      return false;
  }
}

}
