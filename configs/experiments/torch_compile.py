"""The same as torch_eager.py, by torch.compile, with the weights frozen."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parent))
import torch_eager
import torch._inductor.config

version = torch_eager.version


def load(model, inputs, threads):
    torch._inductor.config.freezing = True
    return torch_eager.load(model, inputs, threads, lambda module: torch.compile(module, fullgraph=True))
