#include "core/exec/equivalence/add_extremes.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {
namespace {

SymbolSizes sizes_of(std::span<const ValueInfo> infos, std::span<const Tensor> tensors) {
  SymbolSizes sizes;
  for (std::size_t i = 0; i < infos.size(); ++i)
    for (const Tensor* part : parts_of(tensors[i]))
      for (std::size_t axis = 0; axis < infos[i].dims.size(); ++axis)
        if (!infos[i].dims[axis].is_static()) sizes[infos[i].dims[axis].symbol] = part->dims[axis];
  return sizes;
}

}  // namespace

void add_extremes(OrtSession& session, const InputSource& source, bool finite, const Deadline& end, Rng& rng,
                  Reference& reference) {
  const auto usual = std::find_if(reference.runs.rbegin(), reference.runs.rend(),
                                  [](const ReferenceRun& run) { return !run.probe; });
  if (source.is_fixed() || usual == reference.runs.rend()) return;
  const std::string binding = usual->binding;
  const SymbolSizes sizes = sizes_of(reference.inputs, usual->inputs);
  int left_out = 0;
  for (const ExtremeDraw& draw : extreme_draws(reference.inputs, finite)) {
    if (end.is_over()) {
      ++left_out;
      continue;
    }
    ReferenceRun run{binding + "; " + draw.label(reference.inputs),
                     ExtremeInputs(source, draw).draw(reference.inputs, sizes, rng),
                     {},
                     {}};
    run.probe = true;
    run.extreme = draw.kind;
    try {
      run.outputs = session.run(run.inputs);
      reference.runs.push_back(std::move(run));
    } catch (const ExecError&) {
    }
  }
  if (left_out > 0)
    reference.notes.push_back(counted(left_out, "draw") +
                              " of extremes left out: the time for them was over");
}

}
