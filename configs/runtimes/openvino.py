"""OpenVINO on the processor, in the float types of the model, at the sizes of the inputs."""

import time

import numpy
import openvino

LEAST_RUNS, MOST_RUNS = 5, 100
DISTURBED_US = 500  # beyond half as much again as a layer usually takes: the processor did something else
NO_KERNELS = ("Input", "Output", "Const", "Reshape")  # layers that nothing is run for


def version():
    return openvino.__version__.split("-")[0]


def load(model, inputs, threads):
    _, request = _opened(model, inputs, threads)
    return lambda: request.infer(share_inputs=True, share_outputs=True).values()


def kernels(model, inputs, threads, seconds):
    network, request = _opened(model, inputs, threads, PERF_COUNT=True)
    layer_us = _mean_us(request, seconds)
    layers, layer_of = [], {}
    for layer in request.get_compiled_model().get_runtime_model().get_ordered_ops():
        info = layer.get_rt_info()
        kind, names = (info[key].astype(str) for key in ("layerType", "originalLayersNames"))
        us = layer_us.get(layer.get_friendly_name(), 0)
        made = None if kind in NO_KERNELS and us < 1 else set()
        if made is not None:
            layers.append((kind, made, us))
        layer_of.update(dict.fromkeys(names.split(","), made))
    _name_values(network, layer_of)
    return [layer for layer in layers if layer[1] or layer[2] > 0]  # the others are of weights, done at the start


def _mean_us(request, seconds):
    """What each layer takes. Its counter is the mean of all runs so far, in whole us."""
    end = time.perf_counter() + seconds
    means = []
    while len(means) < LEAST_RUNS or (len(means) < MOST_RUNS and time.perf_counter() < end):
        request.infer(share_inputs=True, share_outputs=True)
        layers = request.get_profiling_info()
        means.append([layer.real_time.total_seconds() * 1e6 for layer in layers])
    sums = numpy.array(means) * numpy.arange(1, len(means) + 1)[:, None]
    runs = numpy.diff(sums, axis=0, prepend=0)
    usual = numpy.quantile(runs, 0.25, axis=0)
    beyond = numpy.where(runs > 1.5 * usual + DISTURBED_US, runs - usual, 0).sum(axis=0)
    return dict(zip((layer.node_name for layer in layers), (sums[-1] - beyond) / len(means)))


def _opened(model, inputs, threads, **settings):
    core = openvino.Core()
    network = core.read_model(model)
    inputs = {port: inputs[_name(port, inputs)] for port in network.inputs}
    network.reshape({port: list(array.shape) for port, array in inputs.items()})
    settings |= {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    request = core.compile_model(network, "CPU", settings).create_infer_request()
    for port, array in inputs.items():
        request.set_tensor(port, openvino.Tensor(array))
    return network, request


def _name(port, inputs):
    """A value may have several names; one of them is that of the model's input."""
    return next(name for name in port.names if name in inputs)


def _name_values(network, layer_of):
    """Adds to each layer what the model calls the values made in it. Layers name the last of the operations that they
    do, so what none names is done where it alone is read. Parts of the model's operations make what their readers do."""
    values_of = {}
    for operation in reversed(network.get_ordered_ops()):
        name = operation.get_friendly_name()
        readers = [port.get_node().get_friendly_name()
                   for output in operation.outputs() for port in output.get_target_inputs()]
        values = set().union(*(output.get_names() for output in operation.outputs()))
        values_of[name] = values or set().union(*(values_of[reader] for reader in readers))
        if name not in layer_of:
            made = layer_of.get(readers[0]) if readers else None
            layer_of[name] = made if all(layer_of.get(reader) is made for reader in readers) else None
        if layer_of[name] is not None:
            layer_of[name] |= values_of[name]
