"""The runs of an experiment: one for every combination of the values that a step goes over."""

import itertools
import pathlib
import re
from types import SimpleNamespace

from xxhash import xxh3_128_hexdigest as hash_text

from .files import ExperimentError


def plan_runs(spec, out):
    """Each run after those that it reads from: the steps as written, the first key varying slowest.

    Of a run: step, label, values; folder, OUT/runs/STEP/KEY=VALUE,... or, of a shared step, OUT/../shared/STEP-HASH;
    arguments, placeholders replaced; inputs, the numbers of the earlier runs whose folders the arguments name.
    """
    runs, out = [], pathlib.Path(out)
    for step in spec.steps:
        choices = [[v for v in spec.matrix[key] if v in step.only.get(key, [v])] for key in step.over]
        for combination in itertools.product(*choices):
            run = SimpleNamespace(step=step, values=dict(zip(step.over, combination)), folder="")
            run.label = " ".join([step.name, *(f"{key}={value}" for key, value in run.values.items())])
            if step.shared:  # one folder for all runs of one command, whichever experiment they are of
                command = "".join(f"{argument}\n" for argument in _Filler(spec, runs, run).fill())
                run.folder = out.parent / "shared" / f"{step.name}-{hash_text(command)[:16]}"
            else:
                safe = {key: re.sub(rb"[^A-Za-z0-9.-]", b"_", value.encode()) for key, value in run.values.items()}
                name = ",".join(f"{key}={value.decode()}" for key, value in safe.items()) or "once"
                run.folder = out / "runs" / step.name / name
            filler = _Filler(spec, runs, run)
            run.arguments, run.inputs = filler.fill(), sorted(filler.inputs)
            runs.append(run)
    return runs


class _Filler:
    """Replaces the placeholders of one step's arguments for one combination of values."""

    def __init__(self, spec, earlier, run):
        self.spec, self.earlier, self.run, self.inputs = spec, earlier, run, set()

    def fill(self):
        filled = []
        for argument in self.run.step.run:
            if re.search(r"\{[A-Za-z][^}]*$", argument):
                self._fail(argument, "has no closing brace")
            of_all = re.search(r"\{all:([^}]*)\}", argument)
            for run in self._runs_of(of_all[1], argument) if of_all else [None]:
                each = argument.replace(of_all[0], str(run.folder)) if of_all else argument
                filled.append(re.sub(r"\{([A-Za-z][^}]*)\}", lambda found: self._meaning(found[1], argument), each))
        return filled

    def _meaning(self, name, argument):
        for known in ({"out": self.run.folder}, self.run.values, self.spec.values):
            if name in known:
                return str(known[name])
        runs = self._runs_of(name, argument)
        if len(runs) != 1:
            self._fail(argument, f"means {len(runs)} runs of step '{name}': write {{all:{name}}}, or use the same keys")
        return str(runs[0].folder)

    def _runs_of(self, step, argument):
        """Earlier runs of a step which give no key of this one another value."""
        found = [i for i, run in enumerate(self.earlier) if run.step.name == step and
                 all(self.run.values.get(key, value) == value for key, value in run.values.items())]
        if not found:
            self._fail(argument, f"names '{step}', which is no value that this step goes over and no earlier step")
        self.inputs.update(found)
        return [self.earlier[i] for i in found]

    def _fail(self, argument, problem):
        raise ExperimentError(f"the argument '{argument}' {problem}", f"experiment {self.spec.name}, step "
                              f"{self.run.step.name}", "placeholders are {out}, {KEY}, {STEP} and {all:STEP}")
