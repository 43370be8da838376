"""Models as callers have them: files, bytes, or onnx.ModelProto, of which the program sees files."""

import os
import pathlib

from ._errors import Error, UsageError

_IN_MEMORY = "give it as a path"


def given(model, folder, name="model"):
    """What the caller gave, as a file; those in memory are written into the folder."""
    if isinstance(model, (str, os.PathLike)):
        return _File(model)
    if isinstance(model, (bytes, bytearray, memoryview)):
        return _InMemory(model, bytes, folder, name)
    if hasattr(model, "SerializeToString"):
        return _InMemory(_serialised(model), type(model).FromString, folder, name)
    raise UsageError(f"a model is a path, bytes or an onnx.ModelProto, not a {type(model).__name__}")


def _serialised(proto):
    try:
        return proto.SerializeToString()
    except Exception as error:  # protobuf's own, of a model over 2 GB
        raise Error(f"the model cannot be serialised: {error}", "", _IN_MEMORY) from error


class _File:
    def __init__(self, model):
        self._kind = str if isinstance(model, str) else pathlib.Path
        self.path = os.path.abspath(model)
        self._shown = os.fspath(model)

    def target(self, output):
        """Where the result goes."""
        stem, _ = os.path.splitext(self._shown)
        self._shown = f"{stem}-optimised.onnx" if output is None else os.fspath(output)
        return os.path.abspath(self._shown)

    def result(self):
        return self._kind(self._shown)


class _InMemory:
    def __init__(self, content, read, folder, name):
        self._read = read
        self._made = pathlib.Path(folder) / "made"
        self.path = os.path.join(folder, f"{name}.onnx")
        with open(self.path, "wb") as file:
            file.write(content)

    def target(self, output):
        if output is not None:
            raise UsageError("is for a model that is a file", "regraft.optimise: output", "the result is returned")
        self._made.mkdir()
        return str(self._made / "model.onnx")

    def result(self):
        # What settings=True writes beside it is in the report, too.
        (file, *others) = sorted(each for each in self._made.iterdir() if not each.name.endswith(".session.json"))
        if others:
            raise Error("the result is too large for one file", "", _IN_MEMORY)
        return self._read(file.read_bytes())
