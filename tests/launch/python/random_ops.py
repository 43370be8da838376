"""One row an op: what a random model may hold. A row's function takes a Maker and a value, and adds nodes."""

import numpy as np
from onnx import TensorProto, helper

from random_maker import NO_NAME, Row, Value


def unary(m, x, op, **choices):
    m.add(op, [x], x.shape, **{name: m.random.choice(values) for name, values in choices.items()})


def partner(m, x):
    """What an elementwise op may take beside x: a value of its shape, or a constant that spreads to it."""
    same = [each for each in m.values if each.shape == x.shape and each.kind == "x"]
    if same and m.chance(40):
        return m.random.choice(same)
    if m.chance(50):
        return m.number(x.rank)
    rank = m.random.randint(0, x.rank)
    return m.weight(*[dim if isinstance(dim, int) and m.chance(50) else 1 for dim in x.shape[x.rank - rank:]])


def binary(m, x, op):
    m.add(op, m.random.sample([x, partner(m, x)], 2) if m.chance(25) else [x, partner(m, x)], x.shape)


def divide(m, x):
    divisor = m.constant(m.numbers.uniform(0.5, 3, [dim if isinstance(dim, int) else 1 for dim in x.shape[-1:]]))
    m.add("Div", [x, divisor], x.shape)


def power(m, x):
    m.add("Pow", [x, m.constant(m.pick(2.0, 2.0, 3.0, 1.0))], x.shape)


def of_positive(m, x, op):
    m.add(op, [m.add("Add", [m.add("Abs", [x], x.shape), m.constant(m.pick(1.0, 0.01))], x.shape)], x.shape)


def many(m, x, op):
    m.add(op, [x, partner(m, x), x][:m.pick(1, 2, 3)], x.shape)


def clip(m, x):
    low, high = m.pick(-1.0, 0.0, None), m.pick(1.0, 6.0, None)
    if m.opset < 11:
        bounds = {"min": low, "max": high}
        return m.add("Clip", [x], x.shape, **{key: bound for key, bound in bounds.items() if bound is not None})
    bounds = [NO_NAME if bound is None else m.constant(bound) for bound in (low, high)]
    return m.add("Clip", [x, *bounds], x.shape)


def where(m, x):
    condition = m.add("Greater", [x, m.constant(m.pick(0.0, 0.5))], x.shape, "b")
    m.add("Where", m.pick([condition, x, partner(m, x)], [condition, partner(m, x), x]), x.shape)


def cast(m, x):
    wide = m.add("Cast", [x], x.shape, "double", to=TensorProto.DOUBLE)
    m.add("Cast", [wide], x.shape, to=m.tensor_type("x"))


def dropout(m, x):
    if m.opset >= 12 and m.chance(50):
        return m.add("Dropout", [x, m.constant(0.5)], x.shape)
    return m.add("Dropout", [x], x.shape, **({"ratio": 0.3} if m.opset < 12 else {"seed": 1}))


def transpose(m, x):
    order = m.random.sample(range(x.rank), x.rank)
    return m.add("Transpose", [x], [x[axis] for axis in order], perm=order)


def negative(m, axis, rank, since=11):
    return axis - rank if m.opset >= since and m.chance(30) else axis


def along(m, x, op, since):
    """Before opset 13 of all dims from the axis on."""
    m.add(op, [x], x.shape, axis=negative(m, m.random.randrange(x.rank), x.rank, since))


def reduce(m, x, op, since):
    axes = sorted(m.random.sample(range(x.rank), m.random.randint(1, min(2, x.rank))))
    keep = m.pick(0, 1)
    shape = [1 if axis in axes else dim for axis, dim in enumerate(x.shape) if keep or axis not in axes]
    m.with_axes(op, x, [negative(m, axis, x.rank) for axis in axes], shape, since, keepdims=keep)


def arg(m, x, op):
    axis = m.random.randrange(x.rank)
    m.add(op, [x], x.resized(axis, 1), "i", axis=axis, keepdims=1)


def product(m, x, width, weight=None):
    return m.add("MatMul", [x, weight or m.weight(x[-1], width)], (*x.shape[:-1], width))


def matmul_left(m, x):
    rows = m.pick(2, 5)
    m.add("MatMul", [m.weight(rows, x[-2]), x], (*x.shape[:-2], rows, x[-1]))


def einsum(m, x):
    width, labels = m.pick(2, 3), "abcde"[:x.rank]
    last, sizes = labels[-1], {**dict(zip(labels, x.shape)), "z": width}
    mixed = m.random.sample(labels[:-1] + "z", x.rank)
    w = m.weight(x[-1], width)
    operands, equation, out = m.pick(
        ([x, w], f"{labels},{last}z->{''.join(mixed)}", mixed),
        ([w, x], f"{last}z, {labels} -> {''.join(mixed)}", mixed),
        ([x, w], f"...{last},{last}z->...z", labels[:-1] + "z"),
        ([x, w], f"{labels},{last}z", labels[:-1] + "z"),
        ([x, x], f"{labels},{labels}->{labels[:-1]}", labels[:-1]),
        ([m.weight(width), x], f"z,{labels}->{labels}z", labels + "z"))
    m.add("Einsum", operands, tuple(sizes[label] for label in out), equation=equation)


def gemm(m, x):
    width, flip = m.pick(3, 4, 8), m.pick(0, 1)
    bias = [m.weight(*m.pick((width,), (1, width), (1,), ()))] if m.opset < 11 or m.chance(70) else []
    attributes = {"alpha": m.pick(1.0, 0.5), "beta": m.pick(1.0, 2.0), "transB": flip}
    attributes = {key: value for key, value in attributes.items() if m.chance(60) or key == "transB"}
    return m.add("Gemm", [x, m.weight(*((width, x[1]) if flip else (x[1], width))), *bias], (x[0], width), **attributes)


def conv(m, x, kernel=None, out=None, group=None, bias=None, plain=False):
    channels, spatial = x[1], x.shape[2:]
    group = group or m.random.choice([1, 1, 1, channels, *(each for each in (2, 4) if channels % each == 0)])
    out = out or group * max(1, m.pick(4, 6, 8) // group)
    kernel = kernel or m.pick(1, 1, 3, 3, 5)
    dilation = m.pick(1, 1, 1, 2) if kernel > 1 and not plain else 1
    edge, stride = (kernel - 1) // 2 * dilation, 1
    begin, end = [edge] * len(spatial), [edge] * len(spatial)
    if x.fixed() and not plain:
        stride = m.pick(1, 1, 1, 2)
        end = [edge + m.pick(0, 0, 1) for _ in spatial]
        if m.chance(25) and min(spatial) > 2 * edge:
            begin = end = [0] * len(spatial)
    sizes = [(dim + a + b - 2 * edge - 1) // stride + 1 if isinstance(dim, int) else dim
             for dim, a, b in zip(spatial, begin, end)]
    attributes = {"kernel_shape": [kernel] * len(spatial), "pads": begin + end, "strides": [stride] * len(spatial),
                  "dilations": [dilation] * len(spatial), "group": group}
    if stride == 1 and begin == end == [edge] * len(spatial) and m.chance(20) and dilation == 1:
        attributes["auto_pad"] = m.pick("SAME_UPPER", "SAME_LOWER")
        del attributes["pads"]
    if m.chance(30):
        usual = {"pads": {0}, "kernel_shape": {1}, "strides": {1}, "dilations": {1}}
        attributes = {key: value for key, value in attributes.items() if key not in usual or set(value) != usual[key]}
    biased = m.chance(60) if bias is None else bias
    weights = [m.weight(out, channels // group, *[kernel] * len(spatial)), *([m.weight(out)] if biased else [])]
    return m.add("Conv", [x, *weights], (x[0], out, *sizes), **attributes)


def pool(m, x, op):
    roomy = x.fixed() and min(x.shape[2:]) > 2
    kernel, stride, edge = m.random.choice([(2, 2, 0), (3, 1, 1), (3, 2, 1), (1, 1, 0)] if roomy else [(3, 1, 1)])
    ceil = {"ceil_mode": 0} if m.opset >= 10 and m.chance(30) else {}
    counted = {"count_include_pad": m.pick(0, 1)} if op == "AveragePool" else {}
    sizes = [(dim + 2 * edge - kernel) // stride + 1 if isinstance(dim, int) else dim for dim in x.shape[2:]]
    n = x.rank - 2
    return m.add(op, [x], (*x.shape[:2], *sizes), kernel_shape=[kernel] * n, strides=[stride] * n,
                 pads=[edge] * 2 * n, **ceil, **counted)


def global_pool(m, x, op):
    return m.add(op, [x], (*x.shape[:2], *[1] * (x.rank - 2)))


def batch_norm(m, x):
    n = x[1]
    weights = [m.weight(n), m.weight(n), m.weight(n), m.constant(m.numbers.uniform(0.3, 2, n))]
    return m.add("BatchNormalization", [x, *weights], x.shape, epsilon=m.pick(1e-5, 1e-3))


def instance_norm(m, x):
    m.add("InstanceNormalization", [x, m.weight(x[1]), m.weight(x[1])], x.shape, epsilon=1e-3)


def layer_norm(m, x):
    bias = m.pick([], [m.weight(x[-1])])
    weights = [m.weight(x[-1]), *bias]
    return m.add("LayerNormalization", [x, *weights], x.shape, axis=m.pick(-1, x.rank - 1), epsilon=m.pick(1e-5, 1e-3))


def group_norm(m, x):
    groups = m.random.choice([each for each in (1, 2, x[1]) if x[1] % each == 0])
    m.add("GroupNormalization", [x, m.weight(x[1]), m.weight(x[1])], x.shape, num_groups=groups, epsilon=1e-3)


def split(m, x, axis=None, sizes=None):
    axis = m.random.choice([at for at in range(x.rank) if x.fixed(at) and x[at] >= 2]) if axis is None else axis
    first = m.random.randint(1, x[axis] - 1)
    sizes = sizes or [first, x[axis] - first]
    shapes = [x.resized(axis, size) for size in sizes]
    if m.opset < 13:
        return m.add("Split", [x], shapes, outputs=len(sizes), axis=axis, split=sizes)
    return m.add("Split", [x, m.ints(*sizes)], shapes, outputs=len(sizes), axis=negative(m, axis, x.rank))


def concat(m, x):
    axis = m.random.randrange(x.rank)
    others = [each for each in m.values if each.kind == "x" and each.rank == x.rank and each.fixed(axis)
              and each.resized(axis, 0) == x.resized(axis, 0)]
    if x.fixed(axis) and others:
        parts = [x, *m.random.choices(others, k=m.pick(1, 2))]
        m.add("Concat", parts, x.resized(axis, sum(each[axis] for each in parts)), axis=axis)


def slice_(m, x, axis=None, begin=None, end=None, step=None):
    axis = m.random.choice([at for at in range(x.rank) if x.fixed(at) and x[at] >= 2]) if axis is None else axis
    begin = m.random.randint(0, x[axis] - 1) if begin is None else begin
    end = m.random.randint(begin + 1, x[axis]) if end is None else end
    step = step or (m.pick(1, 1, 1, 2) if m.opset >= 10 else 1)
    shape = x.resized(axis, (end - begin + step - 1) // step)
    end = 2**63 - 1 if end == x[axis] and m.chance(30) else end
    if m.opset < 10:
        return m.add("Slice", [x], shape, axes=[axis], starts=[begin], ends=[end])
    bounds = [m.ints(begin), m.ints(end), m.ints(axis)]
    return m.add("Slice", [x, *bounds, *([m.ints(step)] if step > 1 or m.chance(50) else [])], shape)


def gather(m, x):
    axis = m.random.choice([at for at in range(x.rank) if x.fixed(at)])
    count = m.pick(None, 1, 2, x[axis])
    low = -x[axis] if m.opset >= 11 and m.chance(20) else 0
    picked = [m.random.randint(low, x[axis] - 1) for _ in range(count or 1)]
    if count == x[axis] and m.chance(50):
        picked = m.random.sample(range(count), count)
    indices = m.constant(picked[0] if count is None else picked, "i")
    shape = [*x.shape[:axis], *([] if count is None else [count]), *x.shape[axis + 1:]]
    m.add("Gather", [x, indices], shape, axis=axis)


def pad(m, x):
    pads = [m.pick(0, 0, 1, 2) if x.fixed(at % x.rank) else 0 for at in range(2 * x.rank)]
    shape = [dim + begin + end if isinstance(dim, int) else dim
             for dim, begin, end in zip(x.shape, pads, pads[x.rank:])]
    mode = m.pick("constant", "constant", "edge")
    if m.opset < 11:
        filled = {"value": 0.5} if mode == "constant" and m.chance(50) else {}
        return m.add("Pad", [x], shape, pads=pads, mode=mode, **filled)
    inputs = [x, m.ints(*pads)]
    if mode == "constant" and m.chance(50):
        inputs.append(m.constant(0.5))
    return m.add("Pad", inputs, shape, mode=mode)


def reshape(m, x):
    """All dims from one on as one, or a dim in two; dims before it stay as they are."""
    axis = m.random.randrange(x.rank)
    if x.fixed(axis) and x[axis] % 2 == 0 and m.chance(60):
        parts = [2, x[axis] // 2, *x.shape[axis + 1:]]
        if x.rank < 5 and x.fixed(*range(axis, x.rank)):
            return m.add("Reshape", [x, m.ints(*[0] * axis, *parts)], [*x.shape[:axis], *parts])
        return None
    if x.fixed(*range(axis, x.rank)):
        return m.add("Reshape", [x, m.ints(*[0] * axis, -1)], [*x.shape[:axis], int(np.prod(x.shape[axis:]))])
    return None


def flatten(m, x):
    m.add("Flatten", [x], (x[0], int(np.prod(x.shape[1:]))), axis=1)


def squeeze_again(m, x):
    axis = m.random.randint(0, x.rank)
    wide = m.with_axes("Unsqueeze", x, [axis], [*x.shape[:axis], 1, *x.shape[axis:]], 13)
    if m.chance(60):
        m.with_axes("Squeeze", m.add("Relu", [wide], wide.shape) if m.chance(50) else wide, [axis], x.shape, 13)


def expand(m, x):
    m.add("Expand", [x, m.ints(*[1] * m.pick(1, x.rank))], x.shape)


def tile(m, x):
    axis = m.random.choice([at for at in range(x.rank) if x.fixed(at)])
    m.add("Tile", [x, m.ints(*[2 if at == axis else 1 for at in range(x.rank)])], x.resized(axis, 2 * x[axis]))


def resize(m, x):
    shape = [*x.shape[:2], *[2 * dim for dim in x.shape[2:]]]
    m.add("Resize", [x, NO_NAME, m.constant([1, 1] + [2] * (x.rank - 2))], shape, mode="nearest", nearest_mode="floor",
          coordinate_transformation_mode="asymmetric")


def top(m, x):
    count = min(2, x[-1])
    values = m.new_name(), m.new_name()
    inputs, k = ([x.name], {"k": count}) if m.opset < 10 else ([x.name, m.ints(count)], {})
    m.nodes.append(helper.make_node("TopK", inputs, values, axis=-1 if m.opset >= 11 else x.rank - 1, **k))
    m.values += [Value(name, kind, (*x.shape[:-1], count)) for name, kind in zip(values, "xi")]


def channels(x):
    return x.fixed(1)


def last(x):
    return x.fixed(-1)


def some_fixed(x):
    return any(x.fixed(axis) and x[axis] >= 2 for axis in range(x.rank))


IMAGES = (3, 4)  # dims
ROWS = [
    *(Row(op, unary, {"op": op}, since, weight=0.3) for op, since in
      {"Relu": 7, "Sigmoid": 7, "Tanh": 7, "Neg": 7, "Abs": 7, "Identity": 7}.items()),
    *(Row(op, unary, {"op": op}, since, weight=0.15) for op, since in
      {"Exp": 7, "Log": 7, "Sqrt": 7, "Reciprocal": 7, "Sign": 9, "Floor": 7, "Ceil": 7, "Round": 11}.items()),
    *(Row(op, unary, {"op": op}, since, floats="f", weight=0.2) for op, since in
      {"Erf": 9, "Gelu": 20, "Softsign": 7, "Sin": 7, "Cos": 7, "Softplus": 7, "Selu": 7, "HardSwish": 14,
       "Mish": 18}.items()),
    Row("LeakyRelu", unary, {"op": "LeakyRelu", "alpha": [0.01, 0.2, -0.5]}, floats="fh", weight=0.3),
    Row("Elu", unary, {"op": "Elu", "alpha": [1.0, 0.5]}, floats="f", weight=0.2),
    Row("HardSigmoid", unary, {"op": "HardSigmoid", "alpha": [0.2, 1 / 6], "beta": [0.5]}, floats="fh", weight=0.2),
    Row("Celu", unary, {"op": "Celu", "alpha": [1.0, 2.0]}, 12, floats="f", weight=0.2),
    *(Row(op, binary, {"op": op}, weight=2) for op in ("Add", "Mul")),
    Row("Sub", binary, {"op": "Sub"}),
    Row("Div", divide),
    Row("Pow", power, weight=0.5),
    *(Row("positive " + op, of_positive, {"op": op}, weight=0.2) for op in ("Sqrt", "Log", "Reciprocal")),
    *(Row(op, many, {"op": op}, 8, floats="f", weight=0.5) for op in ("Sum", "Max", "Min", "Mean")),
    Row("Clip", clip, floats="f"),
    Row("Where", where, since=9),
    Row("Cast", cast, weight=0.5),
    Row("Dropout", dropout, weight=0.4),
    Row("Transpose", transpose, weight=2, ranks=(2, 3, 4, 5)),
    Row("Softmax", along, {"op": "Softmax", "since": 11}),
    Row("LogSoftmax", along, {"op": "LogSoftmax", "since": 11}, weight=0.3),
    *(Row(op, reduce, {"op": op, "since": since}, weight=weight) for op, since, weight in
      [("ReduceMean", 18, 1), ("ReduceSum", 13, 0.6), ("ReduceMax", 18, 0.4), ("ReduceL2", 18, 0.2),
       ("ReduceLogSumExp", 18, 0.2), ("ReduceSumSquare", 18, 0.2)]),
    Row("ArgMax", arg, {"op": "ArgMax"}, weight=0.3),
    Row("MatMul", product, {"width": 8}, ranks=(2, 3, 4), fits=last, weight=2),
    Row("MatMul left", matmul_left, ranks=(2, 3, 4), fits=lambda x: x.fixed(-2), weight=0.7),
    Row("Einsum", einsum, since=12, ranks=(2, 3, 4), fits=last, floats="fd", weight=0.7),
    Row("Gemm", gemm, ranks=(2,), fits=last, weight=3),
    Row("Conv", conv, ranks=IMAGES, fits=channels, weight=4, floats="fh"),
    Row("MaxPool", pool, {"op": "MaxPool"}, 8, ranks=IMAGES, fits=channels, floats="fh"),
    Row("AveragePool", pool, {"op": "AveragePool"}, ranks=IMAGES, fits=channels, floats="fh"),
    Row("GlobalAveragePool", global_pool, {"op": "GlobalAveragePool"}, ranks=IMAGES, floats="fh"),
    Row("GlobalMaxPool", global_pool, {"op": "GlobalMaxPool"}, ranks=IMAGES, floats="fh", weight=0.4),
    Row("BatchNormalization", batch_norm, ranks=(2, 3, 4), fits=channels, weight=2, floats="fd"),
    Row("InstanceNormalization", instance_norm, ranks=IMAGES, fits=channels, floats="f"),
    Row("LayerNormalization", layer_norm, {}, 17, ranks=(2, 3, 4), fits=last, weight=2),
    Row("GroupNormalization", group_norm, {}, 21, ranks=IMAGES, fits=channels, floats="f"),
    Row("Split", split, fits=some_fixed),
    Row("Concat", concat, weight=2),
    Row("Slice", slice_, fits=some_fixed, weight=1.5),
    Row("Gather", gather, fits=some_fixed, ranks=(2, 3, 4, 5), weight=1.5),
    Row("Pad", pad, weight=0.6),
    Row("Reshape", reshape, weight=2),
    Row("Flatten", flatten, ranks=(2, 3, 4, 5), fits=lambda x: x.fixed(*range(1, x.rank))),
    Row("Squeeze", squeeze_again, ranks=(1, 2, 3, 4)),
    Row("Expand", expand, since=8, weight=0.5),
    Row("Tile", tile, fits=some_fixed, weight=0.4),
    Row("Resize", resize, since=13, ranks=(4,), fits=lambda x: x.fixed(2, 3) and x[2] * x[3] < 100, floats="f",
        weight=0.3),
    Row("TopK", top, fits=last, weight=0.2),
]
