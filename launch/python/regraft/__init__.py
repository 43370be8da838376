"""regraft rewrites ONNX models so that they run faster, and checks that they still compute the same.

    import regraft

    faster, report = regraft.optimise("model.onnx", output="faster.onnx", budget=30)
    print(report["accepted"], report["speedup"], report["reason"])

A model is a path, bytes, or an onnx.ModelProto; over 2 GB, or with weights in files of its own, it is a path. Options
are those of the command line, `measure_budget` for --measure-budget; a list for an option that may be repeated, a dict
for values by name: `bind={"batch": 8}`, `inputs={"x": array}`. A call runs the program of this package in a process of
its own, so threads go on meanwhile and several calls may run at once; one that is interrupted ends its process and
leaves no file behind. Errors are `regraft.Error`, with what, where and remedy.
"""

import json
import pathlib
import sys
import tempfile
import warnings
from collections.abc import Mapping

from . import _models, _options, _program
from ._errors import Error, NotEquivalent, UsageError

__all__ = ["Error", "NotEquivalent", "UsageError", "optimise", "optimize", "profile", "verify"]
__version__ = _options.version()


@_options.document("optimise")
def optimise(model, *, output=None, quiet=True, **options):
    """Rewrites a model so that it runs faster; what is not faster beyond doubt comes back as it was.

    Returns (model, report): the model in the kind that was given (the path of `output` for a path; where that is left
    out, of a file MODEL-optimised.onnx beside it), and a dict with the keys of --json. quiet=False: progress is written
    to sys.stderr. Raises NotEquivalent where a rewritten model does not compute the same; nothing is written then.
    """
    with _Workspace() as folder:
        given = _models.given(model, folder)
        report = _run("optimise", [given.path, "--output=" + given.target(output)], {**options, "quiet": quiet}, folder,
                      _tell_warnings if quiet else sys.stderr.write)
        return given.result(), report


optimize = optimise


@_options.document("verify")
def verify(original, optimised, **options):
    """Checks that two models compute the same, and returns the report, a dict with the keys of --json.

    Raises NotEquivalent where they do not, with the report as its attribute `report`.
    """
    with _Workspace() as folder:
        models = [_models.given(original, folder, "original").path, _models.given(optimised, folder, "optimised").path]
        try:
            return _run("verify", models, options, folder, _tell_warnings)
        except NotEquivalent as error:
            report = _report(folder)
            failure = NotEquivalent(report["reason"] if report else error.what, "regraft.verify")
            failure.report = report
            raise failure from None


@_options.document("profile")
def profile(model, **options):
    """Where ONNX Runtime spends the model's time, and what that leaves to gain: a dict with the keys of --json."""
    with _Workspace() as folder:
        return _run("profile", [_models.given(model, folder).path], options, folder, _tell_warnings)


def _Workspace():
    return tempfile.TemporaryDirectory(prefix="regraft-")


def _run(command, places, options, folder, heard):
    if isinstance(options.get("inputs"), Mapping):
        options = {**options, "inputs": _saved(options["inputs"], folder)}
    arguments = _options.arguments(command, options)
    _program.run([command, *places, *arguments, f"--json={folder}/report.json"], heard)
    return _report(folder)


def _saved(arrays, folder):
    import numpy  # only who has arrays needs it
    path = f"{folder}/inputs.npz"
    numpy.savez(path, **arrays)
    return path


def _report(folder):
    file = pathlib.Path(folder) / "report.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def _tell_warnings(line):
    if "warning: " in line:
        warnings.warn(line.strip(), stacklevel=5)
