"""ONNX Runtime on an NVIDIA GPU, with its defaults for CUDA: inputs lie on the GPU, and outputs stay there."""

PACKAGE = "'onnxruntime-gpu[cuda,cudnn]'"  # with the quotes that shells want
try:
    import onnxruntime
except ModuleNotFoundError as error:
    raise ImportError(str(error), name=PACKAGE) from error


def version():
    _check("CUDAExecutionProvider" in onnxruntime.get_available_providers())
    return onnxruntime.__version__


def load(model, inputs, threads):
    onnxruntime.preload_dlls()  # CUDA and cuDNN of PyPI's packages
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3  # no word about nodes that stay on the processor
    session = onnxruntime.InferenceSession(str(model), options, providers=["CUDAExecutionProvider"])
    _check("CUDAExecutionProvider" in session.get_providers())
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array, "cuda", 0))
    for output in session.get_outputs():
        binding.bind_output(output.name, "cuda")

    def run():
        session.run_with_iobinding(binding)
        binding.synchronize_outputs()
        return _copied(binding)

    return run


def _check(cuda):
    if not cuda:
        raise RuntimeError("this onnxruntime finds no CUDA that it can use: pip uninstall onnxruntime; "
                           f"pip install {PACKAGE}")


def _copied(binding):
    """On the processor, once somebody reads them."""
    yield from binding.copy_outputs_to_cpu()
