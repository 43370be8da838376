"""What the rows of random_ops.py and random_patterns.py make models with: a Maker of graphs, and its Values."""

import dataclasses
import random

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSETS = range(7, 25)
KINDS = {"i": np.int64, "b": np.bool_, "double": np.float64}
FLOATS = {"f": np.float32, "d": np.float64, "h": np.float16}
EXTREME = [0.0, -0.0, 1.0, -1.0, 1e-30, 1e-7, 65504.0, -1e9, 1e30, -3.4e38]
ODD = ["{}", "/block/{}:0", "a b {}", "Größe→{}", "{}.weight", "'{}'", "%{}", "x,{};"]
NO_NAME = ""


@dataclasses.dataclass(frozen=True)
class Value:
    name: str
    kind: str  # "x": of the model's float type; "i": int64; "b": bool
    shape: tuple

    def __getitem__(self, axis):
        return self.shape[axis]

    @property
    def rank(self):
        return len(self.shape)

    def resized(self, axis, size):
        """The shape with another dim at the axis."""
        return [size if at == axis else dim for at, dim in enumerate(self.shape)]

    def fixed(self, *axes):
        """Whether these dims (all, where none is given) are numbers."""
        return all(isinstance(self.shape[axis], int) for axis in axes or range(self.rank))


class Maker:
    """A graph in the making: the main one, or a body, which sees the values of the graph around it."""

    def __init__(self, seed=0, around=None):
        self.around, self.nodes, self.weights, self.constants, self.values = around, [], [], [], []
        if around:
            self.constants = list(around.constants)
            for name in ("random", "numbers", "names", "opset", "ir", "float", "functions"):
                setattr(self, name, getattr(around, name))
            return
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.names, self.functions = set(), {}
        self.opset = self.random.choice(OPSETS)
        least = helper.find_min_ir_version_for([helper.make_opsetid("", self.opset)])
        self.ir = self.random.choice(range(least, max(least, 10) + 1))
        self.float = self.random.choices("fdh", [85, 8, 7])[0]

    def chance(self, percent):
        return self.random.random() * 100 < percent

    def pick(self, *choices):
        return self.random.choice(choices)

    def new_name(self):
        style = self.random.choice(ODD) if self.chance(10) else "v{}"
        self.names.add(name := style.format(len(self.names)))
        return name

    def dtype(self, kind):
        return FLOATS[self.float] if kind == "x" else KINDS[kind]

    def tensor_type(self, kind):
        return helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype(kind)))

    def constant(self, array, kind="x", shared=False):
        """An initializer or a Constant node; of those that may be shared sometimes one that is there already."""
        array = np.asarray(array, self.dtype(kind))
        same = [name for name, other in self.constants if other.shape == array.shape and other.dtype == array.dtype]
        if shared and same and self.chance(15):
            return self.random.choice(same)
        name = self.new_name()
        tensor = numpy_helper.from_array(array, name)
        if array.dtype == np.float32 and self.chance(20):
            tensor = helper.make_tensor(name, TensorProto.FLOAT, array.shape, array.flatten().tolist())
        if (self.chance(25) and (kind == "x" or self.opset >= 9)) or (self.around and self.ir < 4):
            self.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        else:
            self.weights.append(tensor)
        self.constants.append((name, array))
        return name

    def weight(self, *shape):
        fan_in = max(1, int(np.prod(shape[:-1] if len(shape) == 2 else shape[1:])))
        return self.constant(self.numbers.standard_normal(shape) / np.sqrt(fan_in), shared=True)

    def ints(self, *numbers):
        return self.constant(list(numbers), "i")

    def number(self, rank):
        """A scalar, sometimes an extreme one, as one of the shapes that exporters give it, of so many dims at most."""
        usual = [0.5, 2, 0.125, -1, 1, 3]
        number = self.random.choice(EXTREME if self.chance(6) else [*usual, self.random.gauss(0, 1)])
        with np.errstate(over="ignore"):
            return self.constant(np.full(self.random.choice([(), (), (1,), (1, 1)][:2 + rank]), number), shared=True)

    def add(self, op, inputs, shape, kind="x", outputs=1, **attributes):
        """A node; its output or outputs, of one kind; `shape` is a list of shapes where it has several."""
        names = [self.new_name() for _ in range(outputs)]
        inputs = [value.name if isinstance(value, Value) else value for value in inputs]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        shapes = shape if outputs > 1 else [shape]
        made = [Value(name, kind, tuple(each)) for name, each in zip(names, shapes)]
        self.values += made
        return made if outputs > 1 else made[0]

    def with_axes(self, op, x, axes, shape, since, **attributes):
        """Axes are an attribute before an opset, an input from it on."""
        if self.opset < since:
            return self.add(op, [x], shape, axes=axes, **attributes)
        return self.add(op, [x, self.ints(*axes)], shape, **attributes)

    def proto(self, inputs, outputs, name):
        types = [helper.make_tensor_value_info(each.name, self.tensor_type(each.kind), each.shape)
                 for each in inputs + outputs]
        given = types[:len(inputs)]
        if not self.around and self.ir < 4:  # initializers are inputs too
            given += [helper.make_tensor_value_info(each.name, each.data_type, each.dims) for each in self.weights]
        return helper.make_graph(self.nodes, name, given, types[len(inputs):], self.weights)


@dataclasses.dataclass(frozen=True)
class Row:
    """One way to go on: `make(maker, x, **settings)` where `x` is of this kind, has so many dims, and `fits`."""
    name: str
    make: object
    settings: dict = dataclasses.field(default_factory=dict)
    since: int = 7
    ranks: tuple = (1, 2, 3, 4, 5)
    fits: object = lambda x: True
    floats: str = "fdh"
    weight: float = 1.0

    def takes(self, m, x):
        return (x.kind == "x" and m.opset >= self.since and m.float in self.floats and x.rank in self.ranks
                and self.fits(x))


