"""OpenVINO on the processor, in the float types of the model, at the sizes of the inputs."""

import openvino


def version():
    return openvino.__version__.split("-")[0]


def load(model, inputs, threads):
    core = openvino.Core()
    network = core.read_model(model)
    inputs = {port: inputs[_name(port, inputs)] for port in network.inputs}
    network.reshape({port: list(array.shape) for port, array in inputs.items()})
    settings = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    request = core.compile_model(network, "CPU", settings).create_infer_request()
    for port, array in inputs.items():
        request.set_tensor(port, openvino.Tensor(array))
    return lambda: request.infer(share_inputs=True, share_outputs=True).values()


def _name(port, inputs):
    """A value may have several names; one of them is that of the model's input."""
    return next(name for name in port.names if name in inputs)
