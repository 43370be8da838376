"""PyTorch from Python on the processor, operation by operation, at the sizes of the inputs."""

try:
    import onnx
    import torch
    from onnx2pytorch import ConvertModel
except ModuleNotFoundError as error:
    raise ImportError(str(error), name="onnx2pytorch") from error  # which brings the others
from torch.fx.experimental.proxy_tensor import make_fx


def version():
    return torch.__version__


def load(model, inputs, threads, compiled=lambda module: module):
    torch.set_num_threads(threads)
    model = onnx.load(model)
    for node in model.graph.node:
        for default in [each for each in node.attribute if (each.name, each.i) == ("training_mode", 0)]:
            node.attribute.remove(default)  # which the converter refuses
    module = ConvertModel(model).requires_grad_(False).eval()
    tensors = [torch.from_numpy(inputs[name]) for name in module.input_names]
    module = make_fx(module, _error_on_data_dependent_ops=False)(*tensors)  # what computes sizes becomes constant
    module.graph.eliminate_dead_code()
    module.recompile()
    module = compiled(module)

    @torch.inference_mode()
    def run():
        outputs = module(*tensors)
        return [output.numpy() for output in (outputs if isinstance(outputs, (list, tuple)) else [outputs])]

    run()  # compiles it
    return run
