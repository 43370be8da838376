"""Random ONNX models: a seed gives an onnx.ModelProto, of any opset from 7 to 24, that ONNX's checker accepts.

A model is some rows of random_ops.py (one an op) and random_patterns.py (what rules look for), one after the other:
each takes a value that is there and adds nodes. A dim is a number, or a name where it is dynamic.

    python3 random_models.py SEED FILE     writes the model of a seed
"""

import sys

import onnx
from onnx import helper

import random_ops
import random_patterns
from random_maker import Maker, Value

ROWS = random_ops.ROWS + random_patterns.ROWS
MOST_ELEMENTS = 4000  # of what is gone on with; a dynamic dim counts as this:
USUAL = 6
ENTRIES = 11  # of a table that indices look into

# Shapes that a model begins with; a dim in quotes is dynamic.
STARTS = [
    ("N", 8), (3, 8), ("N", "L", 6), ("N", 5, 8), (1, 7, 6), (2, "L", 6), (3, 4, 6), (4, 2, 8),
    ("N", 4, 8, 8), (1, 4, 8, 8), (2, 6, 5, 7), (1, 8, "H", "W"), ("N", 4, "H", "H"), ("N", 3, 6, 6), (2, 4, 9),
    (1, 6, "L"), (12,), ("N",),
]


def elements(value):
    count = 1
    for dim in value.shape:
        count *= dim if isinstance(dim, int) else USUAL
    return count


def begin(m):
    """The graph's inputs: one or two floats of one shape, or indices into a table of rows."""
    shape = m.random.choice(STARTS)
    if len(shape) == 3 and m.chance(15):
        index = Value(m.new_name(), "i", shape[:2])
        m.add("Gather", [m.weight(ENTRIES, 6), index], (*shape[:2], 6), axis=0)
        return [index]
    inputs = [Value(m.new_name(), "x", shape) for _ in range(m.pick(1, 1, 2))]
    m.values += inputs
    return inputs


def grow(m):
    ready = [each for each in m.values if each.kind == "x" and elements(each) <= MOST_ELEMENTS]
    x = m.random.choice(ready[-4:] if m.chance(75) else ready)
    rows = [row for row in ROWS if row.takes(m, x)]
    for row in m.random.choices(rows, [each.weight for each in rows]) if rows else []:
        row.make(m, x, **row.settings)


def ends(m, inputs):
    """What nobody reads, but for a few dead ends, and some of what somebody does."""
    read = {name for node in m.nodes for name in node.input}
    made = [each for each in m.values if each.kind in "xib" and each not in inputs]
    outputs = [each for each in made if each.name not in read and (m.chance(95) or each is made[-1])]
    inside = [each for each in made if each.name in read]
    return outputs + (m.random.sample(inside, min(2, len(inside))) if m.chance(35) else [])


def random_model(seed):
    m = Maker(seed)
    inputs = begin(m)
    for _ in range(m.random.randint(3, 12)):
        grow(m)
    while not m.nodes:  # no row went on
        grow(m)
    imports = [helper.make_opsetid("", m.opset)] + ([helper.make_opsetid("local", 1)] if m.functions else [])
    graph = m.proto(inputs, ends(m, inputs), "random")
    model = helper.make_model(graph, opset_imports=imports, ir_version=m.ir, functions=list(m.functions.values()))
    return onnx.shape_inference.infer_shapes(model) if m.chance(20) else model


if __name__ == "__main__":
    onnx.save(random_model(int(sys.argv[1])), sys.argv[2])
