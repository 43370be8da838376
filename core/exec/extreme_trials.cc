#include "core/exec/extreme_trials.h"

#include <algorithm>

#include "core/exec/exec_error.h"

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

void add_extremes(OrtSession& session, const InputSource& source, bool finite, Rng& rng,
                  Reference& reference) {
  const auto usual = std::find_if(reference.trials.rbegin(), reference.trials.rend(),
                                  [](const Trial& trial) { return !trial.probe; });
  if (source.is_fixed() || usual == reference.trials.rend()) return;
  const std::string binding = usual->binding;
  const SymbolSizes sizes = sizes_of(reference.inputs, usual->inputs);
  for (const ExtremeDraw& draw : extreme_draws(reference.inputs, finite)) {
    Trial trial{binding + "; " + draw.label(reference.inputs),
                ExtremeInputs(source, draw).draw(reference.inputs, sizes, rng),
                {},
                {}};
    trial.probe = true;
    trial.extreme = draw.kind;
    try {
      trial.outputs = session.run(trial.inputs);
      reference.trials.push_back(std::move(trial));
    } catch (const ExecError&) {
    }
  }
}

}  // namespace regraft::exec
