#include "core/onnx/model_store.h"

#include <sys/mman.h>

#include <algorithm>

namespace regraft::onnx {

void ModelStore::release(std::span<const std::byte> bytes) const {
  constexpr std::uintptr_t kPageBytes = 4096;
  constexpr std::size_t kWorthwhileBytes = std::size_t{1} << 20;
  if (bytes.size() < kWorthwhileBytes) return;
  const auto mapped = [&](const MappedFile& file) {
    const auto whole = file.bytes();
    return bytes.data() >= whole.data() && bytes.data() + bytes.size() <= whole.data() + whole.size();
  };
  if (std::none_of(files.begin(), files.end(), mapped)) return;
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  const auto pages = bytes.subspan((kPageBytes - address % kPageBytes) % kPageBytes);
  // Advice that is not taken costs memory, nothing else.
  (void)::madvise(const_cast<std::byte*>(pages.data()), pages.size() / kPageBytes * kPageBytes,
                  MADV_DONTNEED);
}

const GraphScope& ModelStore::scope_of(std::int32_t origin) const {
  const auto after = std::ranges::upper_bound(scopes, origin, {}, &GraphScope::first_origin);
  return *std::prev(after);
}

const std::string& GraphScope::input_name(std::int32_t origin) const {
  const int sparse = origin - proto->input_size(), captured = sparse - proto->sparse_initializer_size();
  if (sparse < 0) return proto->input(origin).name();
  if (captured < 0) return proto->sparse_initializer(sparse).values().name();
  return captures[static_cast<std::size_t>(captured)];
}

std::string GraphScope::value_name(graph::Value value) const {
  const graph::Node& made = graph->node(value.node);
  if (made.kind == graph::OpKind::weight) {
    const auto found = weight_names.find(made.weight);
    return found == weight_names.end() ? "" : found->second;
  }
  if (made.kind == graph::OpKind::input) return input_name(made.origin);
  const int output = static_cast<int>(value.output);
  return output < node(made.origin).output_size() ? node(made.origin).output(output) : "";
}

}
