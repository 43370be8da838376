"""The runs of an experiment: one for every combination of the values that a step goes over."""

import itertools
import pathlib
import re
from types import SimpleNamespace

from xxhash import xxh3_128_hexdigest as hash_text

from .files import require


PLACEHOLDER = re.compile(r"\{([A-Za-z][^}]*)\}")


def plan_runs(spec, out):
    """Each run after those that it reads from: the steps as written, the first key varying slowest."""
    runs, out = [], pathlib.Path(out)
    for step in spec.steps.values():
        choices = [[v for v in spec.matrix[key] if v in step.only.get(key, [v])] for key in step.over]
        for combination in itertools.product(*choices):
            run = SimpleNamespace(step=step, values=dict(zip(step.over, combination)), folder="")
            run.label = " ".join([step.name, *(f"{key}={value}" for key, value in run.values.items())])
            if step.shared:  # one folder for all runs of one command, whichever experiment they are of
                command = "".join(f"{argument}\n" for argument in _fill(spec, runs, run)[0])
                run.folder = out.parent / "shared" / f"{step.name}-{hash_text(command.encode())[:16]}"
            else:
                safe = [f"{key}={re.sub('[^A-Za-z0-9.-]', '_', value)}" for key, value in run.values.items()]
                run.folder = out / "runs" / step.name / (",".join(safe) or "once")
            run.arguments, run.inputs = _fill(spec, runs, run)
            runs.append(run)
    return runs


def _fill(spec, earlier, run):
    # The arguments of a run, one for each meaning of its placeholders, and the numbers of earlier runs that they name.
    values, filled, inputs = {**spec.values, **run.values, "out": run.folder}, [], set()

    def check(holds, problem):
        require(holds, f"the argument '{argument}' {problem}", f"experiment {spec.name}, step {run.step.name}",
                "placeholders are {out}, {KEY}, {STEP} and {all:STEP}")

    def meanings(name):
        if name in values:
            return [str(values[name])]
        step = name.removeprefix("all:")  # of its runs those which give no key of this one another value
        found = [i for i, other in enumerate(earlier) if other.step.name == step and
                 all(run.values.get(key, value) == value for key, value in other.values.items())]
        check(found, f"names '{step}', which is no value that this step goes over and no earlier step")
        check(len(found) == 1 or step != name, f"means {len(found)} runs of '{step}': write {{all:{step}}}")
        inputs.update(found)
        return [str(earlier[i].folder) for i in found]

    for argument in run.step.run:
        check(not re.search(r"\{[A-Za-z][^}]*$", argument), "has no closing brace")
        names = dict.fromkeys(PLACEHOLDER.findall(argument))
        for each in itertools.product(*map(meanings, names)):
            filled.append(PLACEHOLDER.sub(lambda found: dict(zip(names, each))[found[1]], argument))
    return filled, sorted(inputs)
