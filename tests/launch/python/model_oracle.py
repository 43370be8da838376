"""An oracle of its own for rewritten models: ONNX's full check and ONNX Runtime without its optimiser, by Python.

Two outputs agree when, relative to the largest element, they differ by at most FACTOR times the original's own spread,
and by FLOOR at any rate. The spread is what the original gives with each of the runtime's optimisation levels, and with
noise of one unit in the last place on its inputs and on its weights. Where one of these gives another number that is
not finite, or another integer, nothing is asked; elsewhere Inf, NaN and integers must be the same.
"""

import collections

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

LEVELS = onnxruntime.GraphOptimizationLevel
OTHER_LEVELS = [LEVELS.ORT_ENABLE_BASIC, LEVELS.ORT_ENABLE_EXTENDED, LEVELS.ORT_ENABLE_ALL]
NOISES = 2  # of inputs, and of weights
FACTOR = 8
FLOOR = {"float16": 4e-3, "float32": 1e-5, "float64": 1e-12}
ENTRIES = 11  # indices are drawn below this
SIZES = {"one": [1], "prime": [3, 7, 5], "even": [2, 4, 8]}  # of dynamic dims, in turn
EXTREMES = {"large": lambda draw: draw * 1e4, "tiny": lambda draw: draw * 1e-4, "zero": np.zeros_like,
            "equal": lambda draw: np.full_like(draw, 1.5)}
DTYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16,
          "tensor(int64)": np.int64}
NOT_NOISY = {"QuantizeLinear", "DequantizeLinear", "Resize", "Clip"}  # their constants are thresholds

onnxruntime.set_default_logger_severity(4)


def session(model, level=LEVELS.ORT_DISABLE_ALL):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def noisy(array, numbers):
    """With one unit in the last place added or taken away."""
    if array.dtype.kind != "f":
        return array
    with np.errstate(over="ignore", invalid="ignore"):
        moved = np.nextafter(array, np.where(numbers.random(array.shape) < 0.5, -np.inf, np.inf).astype(array.dtype))
    return np.where((array == 0) | ~np.isfinite(moved), array, moved)


def tensors(graph):
    """The weights of a graph and of the bodies in it, with their names."""
    yield from ((each.name, each) for each in graph.initializer)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from tensors(attribute.g)
            elif attribute.HasField("t"):
                yield node.output[0], attribute.t


def with_noise(model, numbers):
    noisy_model = onnx.ModelProto()
    noisy_model.CopyFrom(model)
    exact = {name for node in model.graph.node if node.op_type in NOT_NOISY for name in node.input}
    for name, tensor in tensors(noisy_model.graph):
        if name not in exact and tensor.data_type in (1, 10, 11):
            changed = noisy(numpy_helper.to_array(tensor), numbers)
            tensor.CopyFrom(numpy_helper.from_array(changed, tensor.name))
    return noisy_model.SerializeToString()


def interface(model):
    weights = {each.name for each in model.graph.initializer}
    return ([each for each in model.graph.input if each.name not in weights], list(model.graph.output))


class Oracle:
    """What a model gives on its own draws of inputs, and how far it agrees with itself."""

    def __init__(self, data, seed):
        self.model = onnx.load_from_string(data)
        onnx.checker.check_model(self.model, full_check=True)
        self.numbers = np.random.default_rng(seed)
        self.session = session(data)
        ways = [session(data, level) for level in OTHER_LEVELS]
        ways += [session(with_noise(self.model, self.numbers)) for _ in range(NOISES)]
        self.trials, self.given_up = [], collections.Counter()  # trials not asked about, by mark
        for name, feed in self.draws():
            others = [way.run(None, feed) for way in ways]
            noises = [{key: noisy(value, self.numbers) for key, value in feed.items()} for _ in range(NOISES)]
            others += [self.session.run(None, noise) for noise in noises]
            self.trials.append((name, feed, self.session.run(None, feed), others))

    def draws(self):
        dynamic = any(not isinstance(dim, int) for each in self.session.get_inputs() for dim in each.shape)
        for label, sizes in SIZES.items() if dynamic else [("as it is", [1]), ("again", [1])]:
            yield label, self.draw(sizes)
        for label, change in EXTREMES.items():
            feed = self.draw(SIZES["prime"])
            yield label, {key: change(value) if value.dtype.kind == "f" else value for key, value in feed.items()}

    def draw(self, sizes):
        symbols, feed = {}, {}
        for each in self.session.get_inputs():
            shape = [dim if isinstance(dim, int) else symbols.setdefault(dim, sizes[len(symbols) % len(sizes)])
                     for dim in each.shape]
            whole = DTYPES[each.type] == np.int64
            drawn = self.numbers.integers(0, ENTRIES, shape) if whole else self.numbers.standard_normal(shape)
            feed[each.name] = drawn.astype(DTYPES[each.type])
        return feed

    def complaints(self, data, marks):
        """What is wrong with a rewritten model, a line each; `marks` are those of the rules that made it."""
        try:
            model = onnx.load_from_string(data)
            onnx.checker.check_model(model, full_check=True)
            rewritten = session(data)
        except Exception as error:  # whatever either of them throws
            return [f"not taken: {str(error).splitlines()[0]}"]
        if interface(model) != interface(self.model):
            return ["other inputs or outputs"]
        return [line for trial in self.trials for line in self.differences(rewritten, trial, marks)]

    def differences(self, rewritten, trial, marks):
        label, feed, right, others = trial
        if "bounded-terms" in marks and label in EXTREMES:
            self.given_up["bounded-terms"] += 1
            return
        try:
            results = rewritten.run(None, feed)
        except Exception as error:
            yield f"{label}: does not run: {str(error).splitlines()[0]}"
            return
        names = [each.name for each in self.model.graph.output]
        wrong = [f"{label}: {name}: {line}" for name, *values in zip(names, right, results, zip(*others))
                 for line in difference(*values)]
        if wrong and "finite" in marks and self.overflows(feed, results):
            self.given_up["finite"] += 1
        else:
            yield from wrong

    def overflows(self, feed, results):
        """Whether anything is not finite on the way: what `finite` rules do not ask about."""
        exposed = onnx.ModelProto()
        exposed.CopyFrom(self.model)
        known = {each.name for each in exposed.graph.output}
        inner = [name for node in exposed.graph.node for name in node.output if name and name not in known]
        exposed.graph.output.extend(onnx.ValueInfoProto(name=name) for name in inner)
        inside = session(exposed.SerializeToString()).run(None, feed)
        return any(each.dtype.kind == "f" and not np.isfinite(each).all() for each in inside + results)


def difference(right, result, others):
    """How two results of one output differ beyond what the other ways give; nothing where they agree."""
    if right.shape != result.shape or right.dtype != result.dtype:
        yield f"{right.dtype}{right.shape} became {result.dtype}{result.shape}"
        return
    if right.dtype.kind != "f":
        sure = np.all([other == right for other in others], axis=0)
        if (wrong := (right != result) & sure).any():
            yield f"{wrong.sum()} of {right.size} differ"
        return
    least = FLOOR[right.dtype.name]
    right, result, others = right.astype(float), result.astype(float), [other.astype(float) for other in others]
    special = ~np.isfinite(right)
    sure = np.all([np.where(special, same(other, right), np.isfinite(other)) for other in others], axis=0)
    if (wrong := np.where(special | ~np.isfinite(result), ~same(result, right), False) & sure).any():
        at = np.unravel_index(np.argmax(wrong), wrong.shape)
        yield f"{right[at]} became {result[at]} in {wrong.sum()} of {right.size}"
    finite = sure & ~special & np.isfinite(result)
    if not finite.any():
        return
    scale = np.abs(right[finite]).max() or 1.0
    spread = max(np.abs(other[finite] - right[finite]).max() for other in others) / scale
    error = np.abs(result[finite] - right[finite]).max() / scale
    if error > max(FACTOR * spread, least):
        yield f"relative error {error:.2g} where the original's own spread is {spread:.2g}"


def same(a, b):
    return (a == b) | (np.isnan(a) & np.isnan(b))
