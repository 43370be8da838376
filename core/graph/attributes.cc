#include "core/graph/attributes.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/graph/graph_error.h"

namespace regraft::graph {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Attr::count_)> kNames{
    "alpha",
    "approximate",
    "axes",
    "axis",
    "beta",
    "ceil_mode",
    "count_include_pad",
    "dilations",
    "ends",
    "epsilon",
    "group",
    "keepdims",
    "kernel_shape",
    "max",
    "min",
    "mode",
    "momentum",
    "output_padding",
    "pads",
    "perm",
    "repeats",
    "shape",
    "split",
    "starts",
    "steps",
    "strides",
    "to",
    "transA",
    "transB",
    "value",
    "num_heads",
    "scale",
    "op_type",
    "equation",
};

template <typename T>
const T& typed(const AttrBlock& block, Attr attr, const char* wanted) {
  const AttrValue* value = block.find(attr);
  const T* held = value ? std::get_if<T>(value) : nullptr;
  if (!held)
    throw GraphError(value ? std::string("is not ") + wanted : "is missing",
                     "attribute " + std::string(attr_name(attr)), "");
  return *held;
}

std::string shortest(double value) {
  std::array<char, 40> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

}  // namespace

std::string_view attr_name(Attr attr) {
  return kNames[static_cast<std::size_t>(attr)];
}

std::optional<Attr> attr_from_name(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Attr>(found - kNames.begin());
}

std::string to_string(const AttrValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return shortest(*real);
  if (const auto* text = std::get_if<std::string>(&value)) return '"' + *text + '"';
  std::string list = "[";
  for (const std::int64_t item : std::get<Ints>(value)) {
    if (list.size() > 1) list += ',';
    list += std::to_string(item);
  }
  return list + ']';
}

AttrBlock::AttrBlock(std::initializer_list<Entry> entries) {
  for (const Entry& entry : entries) set(entry.first, entry.second);
}

void AttrBlock::set(Attr attr, AttrValue value) {
  constexpr std::size_t kUsual = 6;  // as many as most ops have
  if (entries_.capacity() == 0) entries_.reserve(kUsual);
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), attr,
                                   [](const Entry& entry, Attr wanted) { return entry.first < wanted; });
  if (at != entries_.end() && at->first == attr)
    at->second = std::move(value);
  else
    entries_.emplace(at, attr, std::move(value));
}

void AttrBlock::erase(Attr attr) {
  std::erase_if(entries_, [attr](const Entry& entry) { return entry.first == attr; });
}

const AttrValue* AttrBlock::find(Attr attr) const {
  for (const Entry& entry : entries_)
    if (entry.first == attr) return &entry.second;
  return nullptr;
}

std::int64_t AttrBlock::integer(Attr attr) const {
  return typed<std::int64_t>(*this, attr, "an integer");
}
double AttrBlock::real(Attr attr) const {
  return typed<double>(*this, attr, "a number");
}
const Ints& AttrBlock::ints(Attr attr) const {
  return typed<Ints>(*this, attr, "a list of integers");
}
const std::string& AttrBlock::text(Attr attr) const {
  return typed<std::string>(*this, attr, "a text");
}

}
