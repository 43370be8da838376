"""What the tests of regraft_gym share. They fail where the module is missing: launch/setup.sh installs what it needs."""

import os
import pathlib
import subprocess

try:
    import regraft_gym
except ImportError as missing:
    raise SystemExit(f"regraft_gym cannot be imported ({missing}): run 'bash launch/setup.sh', configure and build again")
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]


def unpacked_model(name):
    """The model of tests/models, unpacked into build/models on first use, as tests/support/models.h does."""
    target = ROOT / "build/models" / f"{name}.onnx"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = target.with_suffix(f".partial-{os.getpid()}")
        with open(aside, "wb") as out:
            subprocess.run(["xz", "--decompress", "--stdout", ROOT / f"tests/models/{name}.onnx.xz"], stdout=out, check=True)
        aside.rename(target)
    return target


def make(name="squeezenet1_1", **options):
    return regraft_gym.RewriteEnv(unpacked_model(name), **options)


def action_of(observation, row):
    candidates = observation["candidates"]
    return int(candidates["rules"][row]), int(candidates["locations"][row])


def random_action(observation, rng):
    """A legal action; NO-OP only where there is no other."""
    legal = len(observation["candidates"]["rules"]) - 1
    return action_of(observation, rng.integers(legal) if legal else 0)


def arrays(observation):
    """All arrays of an observation by name."""
    graph, candidates = observation["graph"], observation["candidates"]
    rest = {name: observation[name] for name in observation if name not in ("graph", "candidates")}
    return {"nodes": graph.nodes, "edges": graph.edges, "edge_links": graph.edge_links, **rest, **candidates}


def differences(one, other):
    """The names of the arrays in which two observations differ."""
    a, b = arrays(one), arrays(other)
    assert a.keys() == b.keys()
    return [name for name in a if a[name].dtype != b[name].dtype or not np.array_equal(a[name], b[name])]
