"""Graph rewriting as a Gymnasium environment: see README.md beside this file.

    import regraft_gym
    env = regraft_gym.RewriteEnv("model.onnx", horizon=100)
    env = gymnasium.make("regraft/Rewrite-v0", model="model.onnx", horizon=100)  # the same, wrapped as Gymnasium does
"""

import operator
import os
import pathlib

import gymnasium
import numpy as np
from gymnasium import spaces

from _regraft_gym import (EDGE_FEATURES, GLOBAL_FEATURES, NODE_FEATURES, OP_KINDS, RULE_FEATURES, OptionError,
                          RegraftError, RewriteWorld)

__all__ = ["OptionError", "RegraftError", "RewriteEnv"]

_MOST_ROWS = np.iinfo(np.int32).max  # of a graph or of a list of candidates: the schema's bound, not a model's
_BEYOND = np.iinfo(np.uint32).max  # stands for every number that no rule and no location can have


class RewriteEnv(gymnasium.Env):
    """Rewrites an ONNX model, cleaned up, rule by rule; the cost is regraft's analytic one.

    model: an ONNX file, or several, of which reset(options={"model": name or number}) chooses; the first one is played
    until then. options: the keys of the section [workload] of regraft's configs: horizon, horizon_mode, reward,
    locations, rules, device, invalid_penalty, ... With timed=True info holds "seconds", where the time of a step went;
    it is an option since Gymnasium's checker wants equal episodes to give equal infos.

    An action is (rule, location); the last rule is NO-OP, which ends the episode. One that is not legal changes
    nothing, costs the penalty and a step, and info["invalid"] says why; it is empty otherwise.
    """

    metadata = {"render_modes": []}

    def __init__(self, model, *, timed=False, **options):
        models = [model] if isinstance(model, (str, os.PathLike)) else list(model)
        if "models" in options:
            raise OptionError("RewriteEnv: models are given as the first argument, one file or a list")
        self._world = RewriteWorld({**options, "models": models})
        self._models = [os.fspath(name) for name in models]
        self._model = 0
        self._timed = timed
        self._location_counts = None
        self.rule_names = self._world.rule_names
        self.noop = len(self.rule_names)
        self.locations = self._world.location_limit
        self.action_space = spaces.MultiDiscrete([self.noop + 1, self.locations])
        self.observation_space = _observation_space(self.noop + 1, self.locations)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        options = dict(options or {})
        model = self._find(options.pop("model", self._model))
        if options:
            raise OptionError(f"reset: there is no option {', '.join(map(repr, options))} (there is 'model')")
        episode = int(self.np_random.integers(1 << 63)) if seed is None else seed % (1 << 64)
        packed, info = self._world.reset(model, episode)
        self._model = model
        return self._observe(packed), info

    def step(self, action):
        try:
            rule, location = (operator.index(part) for part in action)
        except (TypeError, ValueError):
            raise ValueError(f"step: an action is two whole numbers, (rule, location), not {action!r}") from None
        packed, reward, terminated, truncated, info, seconds = self._world.step(_known(rule), _known(location))
        if self._timed:
            info["seconds"] = seconds
        return self._observe(packed), reward, terminated, truncated, info

    def location_masks(self):
        """bool [rules, locations]: exactly the legal actions of the present observation."""
        if self._location_counts is None:
            raise RegraftError("location_masks: no episode has begun (call reset first)")
        return np.arange(self.locations) < self._location_counts[:, None]

    def action_masks(self):
        """bool [rules + locations], as sb3-contrib masks a MultiDiscrete: what is legal has both its bits set, but not
        all that has both set is legal, since which locations a rule has depends on it (location_masks)."""
        masks = self.location_masks()
        return np.concatenate([masks.any(axis=1), masks.any(axis=0)])

    def rule_features(self):
        """float32 [rules, 64]: one row a rule, hashed from its text, for policies that read rules; NO-OP last."""
        return np.frombuffer(self._world.rule_features(), np.float32).reshape(-1, RULE_FEATURES)

    def write_best(self, path):
        """Writes the cheapest graph of the episode as an ONNX model; `regraft verify` compares it with the original."""
        self._world.write_best(os.fspath(path))

    def _find(self, model):
        if isinstance(model, (str, os.PathLike)):
            name = os.fspath(model)
            for number, known in enumerate(self._models):
                if name in (known, pathlib.Path(known).stem):
                    return number
        elif hasattr(model, "__index__") and 0 <= operator.index(model) < len(self._models):
            return operator.index(model)
        raise OptionError(f"reset: there is no model {model!r} (there are {', '.join(map(repr, self._models))})")

    def _observe(self, packed):
        memory = memoryview(packed)  # the arrays show it and keep it alive
        part = {name: np.ndarray(shape, kind, memory, offset) for name, kind, shape, offset in packed.fields()}
        self._location_counts = part["location_counts"].copy()
        graph = spaces.GraphInstance(part.pop("nodes"), part.pop("edges"), part.pop("edge_links"))
        candidates = {name: part.pop(name) for name in ("rules", "locations", "offsets", "matched")}
        return {"graph": graph, **part, "candidates": candidates}


def _known(number):
    return number if 0 <= number < _BEYOND else _BEYOND


def _row(features):
    return spaces.Box(-np.inf, np.inf, (features,), np.float32)


def _ragged(bound):
    return spaces.Sequence(spaces.Discrete(bound), stack=True)


def _observation_space(rules, locations):
    return spaces.Dict({
        "graph": spaces.Graph(_row(NODE_FEATURES), _row(EDGE_FEATURES)),  # edge_links: (sender, receiver) of each edge
        "kinds": _ragged(OP_KINDS),  # [nodes] the kind of each operation, for an embedding
        "node_ids": _ragged(_MOST_ROWS),  # [nodes] the same node has the same id throughout an episode
        "globals": _row(GLOBAL_FEATURES),
        "rule_mask": spaces.MultiBinary(rules),  # the last is NO-OP
        "location_counts": spaces.Box(0, locations, (rules,), np.uint16),  # locations below it are legal
        "candidates": spaces.Dict({  # the legal actions, in order, NO-OP last
            "rules": _ragged(rules),
            "locations": _ragged(locations),
            "offsets": _ragged(_MOST_ROWS),  # candidate c matches matched[offsets[c]:offsets[c + 1]]
            "matched": _ragged(_MOST_ROWS),  # rows of nodes, the root of each match first
        }),
    })


gymnasium.register("regraft/Rewrite-v0", entry_point="regraft_gym:RewriteEnv")
