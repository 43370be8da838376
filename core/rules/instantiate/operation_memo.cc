#include "core/rules/instantiate/operation_memo.h"

#include "core/graph/evaluate.h"

namespace regraft::rules {

std::span<const std::byte> OperationMemo::bytes(graph::DType dtype, std::span<const std::int64_t> numbers) {
  Hasher key(static_cast<std::uint64_t>(dtype));
  for (const std::int64_t number : numbers) key.add(static_cast<std::uint64_t>(number));
  const Hash128 hash = key.finish();
  if (const std::vector<std::byte>* known = bytes_.find(hash)) return *known;
  graph::HostTensor host;
  host.dtype = dtype;
  if (graph::is_float(dtype)) {
    host.real.assign(numbers.begin(), numbers.end());
  } else {
    host.integer.assign(numbers.begin(), numbers.end());
  }
  return bytes_.add(hash, host.to_bytes());
}

void OperationMemo::clear() {
  operations_.clear();
  bytes_.clear();
}

}
