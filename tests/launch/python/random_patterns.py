"""Rows of more than one op: what the rules look for, bodies, functions, quantisation and arithmetic on shapes."""

import numpy as np
import onnx
from onnx import TensorProto, helper

from random_maker import Maker, Row, Value
from random_ops import IMAGES, batch_norm, channels, conv, last, pool, product, slice_, some_fixed, split


def biased(m, x, width):
    h = product(m, x, width)
    return m.add("Add", [h, m.weight(width)], h.shape)


def joined(m, parts, axis):
    """What becomes of parts of equal shape: joined, added, or each for itself."""
    how = m.pick("concat", "add", "apart")
    shape = list(parts[0].shape)
    if how == "concat":
        shape[axis] = sum(each[axis] for each in parts)
        return m.add("Concat", parts, shape, axis=axis)
    for other in parts[1:] if how == "add" else []:
        parts[0] = m.add("Add", [parts[0], other], shape)
    return parts[0]


def siblings(m, x):
    make = m.pick(product, biased)
    joined(m, [make(m, x, 4) for _ in range(m.pick(2, 3))], x.rank - 1)


def gemm_siblings(m, x):
    bias = m.pick(True, False) or m.opset < 11
    parts = [m.add("Gemm", [x, m.weight(x[1], 4), *([m.weight(4)] if bias else [])], (x[0], 4)) for _ in range(2)]
    joined(m, parts, 1)


def shared_weight(m, x):
    """One weight on several values."""
    others = [each for each in m.values if each.kind == "x" and each.shape == x.shape and each != x]
    weight = m.weight(x[-1], 4)
    joined(m, [product(m, each, 4, weight) for each in [x, *others[:2]]], x.rank - 1)


def conv_siblings(m, x):
    bias, same = m.chance(50), m.chance(70)
    kernels = [m.pick(1, 3)] * 3 if same else [1, 3, 3]
    joined(m, [conv(m, x, kernel, 4, 1, bias, plain=True) for kernel in kernels[:m.pick(2, 3)]], 1)


def conv_block(m, x):
    h = conv(m, x)
    h = batch_norm(m, h) if m.float != "h" else h
    if m.chance(50):
        h = m.add("Mul", [h, m.weight(h[1], *[1] * (h.rank - 2))], h.shape)
    return m.add(m.pick("Relu", "Sigmoid", "HardSigmoid"), [h], h.shape)


def residual(m, x):
    h = conv(m, x, m.pick(1, 3), x[1], 1, plain=True)
    m.add("Add", [h, x], x.shape)


def halves(m, x):
    """Convolutions of the halves of the channels, joined again."""
    parts = split(m, x, 1, [x[1] // 2, x[1] // 2])
    joined(m, [conv(m, each, 3, 4, 1, True, plain=True) for each in parts], 1)


def pooled_parts(m, x):
    parts = [conv(m, x, kernel, 4, 1, plain=True) for kernel in (1, 3)] if x.fixed() else [pool(m, x, "MaxPool"), x]
    conv(m, joined(m, parts, 1), 1)


def pool_conv(m, x):
    conv(m, m.add("GlobalAveragePool", [conv(m, x, 1, 4, 1, plain=True)], (x[0], 4, *[1] * (x.rank - 2))), 1, 4, 1)


def squeezed_scale(m, x):
    n = x[1]
    h = m.add("GlobalAveragePool", [x], (x[0], n, 1, 1))
    h = m.add("Relu", [conv(m, h, 1, 2, 1, plain=True)], (x[0], 2, 1, 1))
    h = m.add("Sigmoid", [conv(m, h, 1, n, 1, plain=True)], (x[0], n, 1, 1))
    conv(m, m.add("Mul", [x, h], x.shape), 1, 4, 1)


def shuffle(m, x):
    if x.fixed() and x[1] % 2 == 0:
        h = m.add("Reshape", [x, m.ints(x[0], 2, x[1] // 2, x[2], x[3])], (x[0], 2, x[1] // 2, x[2], x[3]))
        h = m.add("Transpose", [h], (x[0], x[1] // 2, 2, x[2], x[3]), perm=[0, 2, 1, 3, 4])
        conv(m, m.add("Reshape", [h, m.ints(0, x[1], x[2], x[3])], x.shape), 1)


def scale_chain(m, x):
    h = x
    for _ in range(m.pick(2, 3, 4)):
        h = m.add(m.pick("Mul", "Mul", "Add", "Div" if m.chance(30) else "Mul", "Sub"), [h, m.number(x.rank)], x.shape)
    if last(x) and x.rank >= 2 and m.chance(60):
        h = product(m, h, 4)
        m.add("Mul", [h, m.pick(m.number(1), m.weight(4))], h.shape)


def turned(m, x):
    """There and back, with something between."""
    order = m.random.sample(range(x.rank), x.rank)
    h = m.add("Transpose", [x], [x[axis] for axis in order], perm=order)
    h = m.add(m.pick("Relu", "Tanh", "Sigmoid"), [h], h.shape) if m.chance(60) else h
    h = m.add("Add", [h, m.weight(h[-1])], h.shape) if last(h) and m.chance(40) else h
    m.add("Transpose", [h], x.shape, perm=[order.index(axis) for axis in range(x.rank)])


def apart_and_joined(m, x):
    axis = m.random.choice([at for at in range(x.rank) if x.fixed(at) and x[at] >= 2])
    cut = m.random.randint(1, x[axis] - 1)
    if m.chance(50):
        parts = split(m, x, axis, [cut, x[axis] - cut])
    else:
        parts = [slice_(m, x, axis, 0, cut, 1), slice_(m, x, axis, cut, x[axis], 1)]
    op = m.pick("Relu", "Tanh", "Neg", None)
    parts = [m.add(op, [each], each.shape) if op else each for each in parts]
    m.add("Concat", parts, x.resized(axis, sum(each[axis] for each in parts)), axis=axis)


def rows(m, x):
    """Each row of the first dim by a weight of its own or one for all, as unrolled recurrent nets have it."""
    weight = m.weight(x[-1], 4)
    picked = [m.add("Gather", [x, m.constant(at, "i")], x.shape[1:], axis=0) for at in range(x[0])]
    joined(m, [product(m, each, 4, weight) for each in picked], x.rank - 2)


def gelu(m, x):
    h = biased(m, x, 8) if last(x) and x.rank >= 2 else x
    e = m.add("Erf", [m.add("Div", [h, m.constant(np.sqrt(2))], h.shape)], h.shape)
    e = m.add("Add", [e, m.constant(1)], h.shape)
    half = m.constant(0.5)
    if m.chance(50):
        h = m.add("Mul", [m.add("Mul", [h, half], h.shape), e], h.shape)
    else:
        h = m.add("Mul", [h, m.add("Mul", [half, e], h.shape)], h.shape)
    return product(m, h, 4) if last(h) and h.rank >= 2 else h


def norm_in_parts(m, x):
    keep = (*x.shape[:-1], 1)
    axes = [-1 if m.opset >= 11 else x.rank - 1]
    d = m.add("Sub", [x, m.with_axes("ReduceMean", x, axes, keep, 18, keepdims=1)], x.shape)
    square = m.add("Mul", [d, d], x.shape) if m.chance(60) else m.add("Pow", [d, m.constant(2)], x.shape)
    v = m.with_axes("ReduceMean", square, axes, keep, 18, keepdims=1)
    root = m.add("Sqrt", [m.add("Add", [v, m.constant(1e-5 if m.float != "h" else 1e-3)], keep)], keep)
    h = m.add("Mul", [m.add("Div", [d, root], x.shape), m.weight(x[-1])], x.shape)
    h = m.add("Add", [h, m.weight(x[-1])], x.shape)
    product(m, h, 4)


def computed(m, x, *wanted):
    """A shape as exporters compute it: numbers as they are, axes of x in lists, which are multiplied."""
    before, shape, parts = list(m.values), m.add("Shape", [x], (x.rank,), "i"), []
    for each in wanted:
        if isinstance(each, int):
            parts.append(m.ints(each))
            continue
        sizes = [m.add("Gather", [shape, m.constant(axis, "i")], (), "i", axis=0) for axis in each]
        while len(sizes) > 1:
            sizes[:2] = [m.add("Mul", sizes[:2], (), "i")]
        parts.append(m.with_axes("Unsqueeze", sizes[0], [0], (1,), 13))
    target = m.add("Concat", parts, (len(parts),), "i", axis=0)
    m.values = before
    return target


def target(m, x, *wanted):
    """A constant shape, where 0 copies, or the same computed."""
    if m.chance(60):
        return m.ints(*wanted)
    return computed(m, x, *([axis] if each == 0 else each for axis, each in enumerate(wanted)))


def attention(m, x):
    """Heads of 2 of a batch of sequences, with a mask or a factor."""
    n, length, heads, size = x[0], x[1], 2, 3

    def head(order):
        h = m.pick(product, biased)(m, x, heads * size)
        h = m.add("Reshape", [h, target(m, h, 0, 0, heads, size)], (n, length, heads, size))
        return m.add("Transpose", [h], [h[axis] for axis in order], perm=order)

    scores = m.add("MatMul", [head([0, 2, 1, 3]), head([0, 2, 3, 1])], (n, heads, length, length))
    if m.chance(70):
        scores = m.add(m.pick("Mul", "Div"), [scores, m.constant(m.pick(2.0, 0.5, 1.732))], scores.shape)
    if m.chance(30) and x.fixed(1):
        mask = np.where(m.numbers.random((length, length)) < 0.3, m.pick(-1e4, -1e9 if m.float != "h" else -6e4), 0)
        scores = m.add("Add", [scores, m.constant(mask)], scores.shape)
    scores = m.add("Softmax", [scores], scores.shape, axis=-1 if m.opset >= 13 else 3)
    h = m.add("MatMul", [scores, head([0, 2, 1, 3])], (n, heads, length, size))
    h = m.add("Transpose", [h], (n, length, heads, size), perm=[0, 2, 1, 3])
    h = m.add("Reshape", [h, target(m, h, 0, 0, heads * size)], (n, length, heads * size))
    biased(m, h, x[2] if last(x) else 4)


def mean_of_product(m, x):
    h = m.pick(product, biased)(m, x, 4)
    m.with_axes("ReduceMean", h, [1], (h[0], 1, h[2]), 18, keepdims=1)


def two_products(m, x):
    product(m, product(m, x, 8), 3)


def quantised(m, x):
    """Rounds, so that a difference may become a step; all of one tensor by one scale."""
    scale, zero = m.constant(m.pick(0.05, 0.1)), m.new_name()
    m.weights.append(helper.make_tensor(zero, TensorProto.UINT8, [], [128]))
    q = m.add("QuantizeLinear", [x, scale, zero], x.shape, "q")
    m.add("DequantizeLinear", [q, scale, zero], x.shape)


def by_shape(m, x):
    """A Reshape to what is computed of the shape, or there and back."""
    if m.chance(50) and x.fixed(*range(1, x.rank)):
        return m.add("Reshape", [x, computed(m, x, [0], -1)], (x[0], int(np.prod(x.shape[1:]))))
    before = list(m.values)
    flat = m.add("Reshape", [x, computed(m, x, [0, 1], *([axis] for axis in range(2, x.rank)))], ("flat", *x.shape[2:]))
    h = m.add(m.pick("Relu", "Tanh", "Neg"), [flat], flat.shape)
    m.values = before
    m.add("Reshape", [h, computed(m, x, *([axis] for axis in range(x.rank)))], x.shape)


def repeated(m, x):
    """A row for each of the batch, as position embeddings have it."""
    wanted = computed(m, x, *([axis] for axis in range(x.rank)))
    h = m.add("Expand", [m.weight(*[1] * (x.rank - 1), x[-1]), wanted], x.shape)
    m.add("Add", [x, h], x.shape)


def zeros(m, x):
    """A state of zeros of the batch's size."""
    h = m.add("ConstantOfShape", [computed(m, x, [0], *x.shape[1:])], x.shape,
              value=helper.make_tensor("", m.tensor_type("x"), [1], [m.pick(0, 1)]))
    m.add(m.pick("Add", "Mul"), [x, h], x.shape)


def chunks(m, x):
    """Halves of an axis by shape arithmetic, and joined again."""
    axis, before = m.random.randrange(x.rank), list(m.values)
    n = computed(m, x, [axis])
    half = m.add("Div", [m.add("Add", [n, m.ints(1)], (1,), "i"), m.ints(2)], (1,), "i")
    parts = [m.add("Slice", [x, *bounds, m.ints(axis)], x.resized(axis, f"part {at} of {x.name}"))
             for at, bounds in enumerate([(m.ints(0), half), (half, n)])]
    parts[1] = m.add(m.pick("Relu", "Neg"), parts[1:], parts[1].shape)
    m.values = before
    m.add("Concat", parts, x.shape, axis=axis)


def body(m, make, inputs, name):
    """A graph within a node: what `make` does with a Maker of its own, and its outputs."""
    inner = Maker(around=m)
    outputs = make(inner)
    return inner.proto(inputs, outputs, name)


def some(inner, x):
    """A few ops that keep the shape; the last is no other branch's."""
    for _ in range(inner.pick(1, 2, 3)):
        op, *number = inner.pick(["Relu"], ["Mul", inner.number(x.rank)], ["Add", inner.number(x.rank)], ["Tanh"])
        x = inner.add(op, [x, *number], x.shape)
    return x


def if_(m, x):
    if m.chance(30):
        condition = m.constant(m.pick(True, False), "b")
    else:
        largest = m.add("ReduceMax", [x], (), keepdims=0)
        condition = m.add("Greater", [largest, m.constant(0.5)], (), "b")
    branches = [body(m, lambda inner: [some(inner, x)], [], name) for name in ("then", "else")]
    m.add("If", [condition], x.shape, then_branch=branches[0], else_branch=branches[1])


def loop(m, x):
    trips = m.pick(1, 2, 3)
    at, going, carried = Value(m.new_name(), "i", ()), Value(m.new_name(), "b", ()), Value(m.new_name(), "x", x.shape)

    def step(inner):
        h = some(inner, carried)
        h = inner.add("Add", [inner.add("Mul", [h, inner.constant(0.5)], x.shape), x], x.shape)
        return [inner.add("Identity", [going], (), "b"), h]

    inside = body(m, step, [at, going, carried], "body")
    m.add("Loop", [m.constant(trips, "i"), m.constant(True, "b"), x], x.shape, body=inside)


def call(m, x):
    """A model-local function with an attribute, called once or twice."""
    if m.ir < 8:
        return  # functions came later
    if "Scaled" not in m.functions:
        leaky = helper.make_node("LeakyRelu", ["in"], ["h"])
        leaky.attribute.append(onnx.AttributeProto(name="alpha", type=onnx.AttributeProto.FLOAT, ref_attr_name="slope"))
        nodes = [leaky, *(helper.make_node(op, inputs, [out]) for op, inputs, out in
                          [("Mul", ["h", "by"], "scaled"), ("Add", ["scaled", "in"], "out")])]
        m.functions["Scaled"] = helper.make_function("local", "Scaled", ["in", "by"], ["out"], nodes,
                                                     [helper.make_opsetid("", m.opset)], ["slope"])
    for _ in range(m.pick(1, 2)):
        x = m.add("Scaled", [x, m.number(x.rank)], x.shape, domain="local", slope=m.pick(0.1, 0.3))


def even(x):
    return x.fixed(1) and x[1] % 2 == 0


def gates(m, x, count, hidden):
    shapes = [(x[0], hidden)] * count
    if m.opset < 13:
        return m.add("Split", [x], shapes, outputs=count, axis=1, split=[hidden] * count)
    return m.add("Split", [x, m.ints(*[hidden] * count)], shapes, outputs=count, axis=1)


def cells(m, x):
    """Steps of an LSTM or a GRU, written out; what an LSTM keeps may be read between them."""
    lstm, hidden, form, blends = m.chance(60), m.pick(1, 3), m.pick("gemms", "last", "joined"), m.chance(50)
    count = 4 if lstm else 3
    rows, state = count * hidden, (x[0], hidden)
    weights = [m.weight(*shape) for shape in ((x[1], rows), (hidden, rows), (x[1] + hidden, rows), (rows,), (rows,))]
    h = m.add("Tanh", [product(m, x, hidden)], state)
    c = m.add("Neg", [h], state)

    def binary(op, a, b):
        return m.add(op, [a, b], a.shape)

    def open_(part):
        return m.add("Sigmoid", [part], state)

    def of(value, weight, bias):
        return m.add("Gemm", [value, weights[weight], weights[bias]], (x[0], rows))

    for _ in range(m.pick(1, 2, 3)):
        if not lstm:
            if form == "gemms":
                products = [of(x, 0, 3), of(h, 1, 4)]
            else:
                products = [m.add("MatMul", [value, weights[i]], (x[0], rows)) for i, value in enumerate((x, h))]
                for i in range(1 if form == "last" else 2):
                    products[i] = m.add("Add", [products[i], weights[3 + i]], (x[0], rows))
            a, b = (gates(m, product, 3, hidden) for product in products)
            reset, update = (open_(binary("Add", a[i], b[i])) for i in range(2))
            new = m.add("Tanh", [binary("Add", a[2], binary("Mul", reset, b[2]))], state)
            if blends:
                h = binary("Add", binary("Mul", binary("Sub", h, new), update), new)
            else:
                rest = m.add("Sub", [m.constant(1.0), update], state)
                h = binary("Add", binary("Mul", rest, new), binary("Mul", update, h))
            continue
        if form == "gemms":
            z = binary("Add", of(x, 0, 3), of(h, 1, 4))
        elif form == "joined":
            z = of(m.add("Concat", [x, h], (x[0], x[1] + hidden), axis=1), 2, 3)
        else:
            parts = [m.add("MatMul", [value, weights[i]], (x[0], rows)) for i, value in enumerate((x, h))]
            z = m.add("Add", [binary("Add", *parts), weights[3]], (x[0], rows))
        i, f, g, o = gates(m, z, 4, hidden)
        c = binary("Add", binary("Mul", open_(f), c), binary("Mul", open_(i), m.add("Tanh", [g], state)))
        h = binary("Mul", open_(o), m.add("Tanh", [c], state))


ROWS = [
    Row("siblings", siblings, ranks=(2, 3, 4), fits=last),
    Row("gemm siblings", gemm_siblings, ranks=(2,), fits=last),
    Row("shared weight", shared_weight, ranks=(2, 3), fits=last),
    Row("conv siblings", conv_siblings, ranks=IMAGES, fits=channels, floats="fh", weight=2),
    Row("conv block", conv_block, ranks=IMAGES, fits=channels, floats="fh", weight=2),
    Row("residual", residual, ranks=IMAGES, fits=channels, floats="fh"),
    Row("halves", halves, ranks=IMAGES, fits=even, floats="fh"),
    Row("pooled parts", pooled_parts, since=8, ranks=IMAGES, fits=channels, floats="fh"),
    Row("pool and conv", pool_conv, ranks=IMAGES, fits=channels, floats="fh"),
    Row("squeezed scale", squeezed_scale, ranks=(4,), fits=channels, floats="fh"),
    Row("shuffle", shuffle, ranks=(4,), fits=channels, floats="fh"),
    Row("scale chain", scale_chain, weight=2),
    Row("turned", turned, ranks=(2, 3, 4), weight=2),
    Row("apart and joined", apart_and_joined, fits=some_fixed),
    Row("rows", rows, ranks=(3,), fits=lambda x: x.fixed(0, 2) and x[0] <= 4, weight=2),
    Row("gelu", gelu, since=9, ranks=(2, 3), floats="fh"),
    Row("norm in parts", norm_in_parts, ranks=(2, 3), fits=last),
    Row("attention", attention, ranks=(3,), fits=last, weight=3),
    Row("mean of product", mean_of_product, ranks=(3,), fits=last),
    Row("two products", two_products, ranks=(2, 3), fits=last),
    Row("QDQ", quantised, since=10, floats="f", weight=0.3),
    Row("cells", cells, since=11, ranks=(2,), fits=last, floats="f"),
    Row("by shape", by_shape, ranks=(2, 3, 4)),
    Row("repeated", repeated, since=8, ranks=(2, 3, 4), fits=last),
    Row("zeros", zeros, since=9, ranks=(2, 3), fits=lambda x: x.fixed(*range(1, x.rank))),
    Row("chunks", chunks, since=10, ranks=(2, 3, 4)),
    Row("If", if_, weight=0.5),
    Row("Loop", loop, weight=0.5),
    Row("function", call, floats="fh", fits=lambda x: x.rank > 1, weight=0.5),
]
