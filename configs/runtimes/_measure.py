"""One timed session in a runtime other than ONNX Runtime: _measure.py RUNTIME.py MODEL [options of measure-one]

RUNTIME.py is the runtime's adapter (launch/docs/adding-a-runtime.md). Prints the session as JSON. With --version in
the place of MODEL, prints the runtime's version; with --nodes before MODEL, what its kernels take.
"""

import argparse
import gc
import importlib.util
import json
import os
import pathlib
import resource
import sys
import time

_START = time.perf_counter()


def _fail(problem):
    """As the program itself says what went wrong."""
    sys.exit(f"regraft: {problem}")


def _missing(path, error):
    _fail(f"{path.stem} is not installed for {sys.executable}: {error} (pip install {error.name or path.stem}; "
          "REGRAFT_PYTHON names another Python)")


def _adapter(path):
    """The module of a file, which may have the name of the package that it imports."""
    own = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder or ".") != own]
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    cache = pathlib.Path(os.environ.get("REGRAFT_CACHE") or os.path.join(cache, "regraft"))
    sys.path += map(str, cache.glob(path.stem + "-[0-9]*"))  # where launch/setup.sh puts it
    spec = importlib.util.spec_from_file_location("adapter", path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        _missing(path, error)
    for name in ("version", "load"):
        if not callable(getattr(module, name, None)):
            _fail(f"{path} has no function {name} (launch/docs/adding-a-runtime.md shows an adapter)")
    return module


def _inputs(path):
    import numpy

    return {one["name"]: numpy.fromfile(path.parent / one["file"], one["type"]).reshape(one["dims"])
            for one in json.loads(path.read_text(encoding="utf-8"))}


def _write(outputs, path):
    import numpy

    numpy.savez(path, *outputs)


def _time_runs(run, request, on_gpu):
    """Milliseconds of each run, as ONNX Runtime's are taken: the processor's time where one thread is asked for."""
    now = time.process_time_ns if request.threads == 1 and not on_gpu else time.perf_counter_ns
    for _ in range(request.warmup_runs):
        run()
    gc.disable()
    run_ms, end = [], time.perf_counter() + request.seconds
    while len(run_ms) < request.min_runs or (len(run_ms) < request.max_runs and time.perf_counter() < end):
        start = now()
        run()
        run_ms.append((now() - start) / 1e6)
    return run_ms


def _session(adapter, request, on_gpu):
    run = adapter.load(request.model, _inputs(request.inputs), request.threads)
    if request.outputs:
        _write(run(), request.outputs)
    loaded = time.perf_counter()
    run_ms = _time_runs(run, request, on_gpu)
    run_wall_s = (time.perf_counter() - loaded) / (len(run_ms) + request.warmup_runs)
    peak_rss_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"load_s": loaded - _START, "run_ms": run_ms, "run_wall_s": run_wall_s, "peak_rss_bytes": peak_rss_bytes}


def _kernels(adapter, request, on_gpu):
    inputs = _inputs(request.inputs)
    run_ms = sorted(_time_runs(adapter.load(request.model, inputs, request.threads), request, on_gpu))
    kernels = adapter.kernels(request.model, inputs, request.threads, request.seconds)
    return {"run_us": run_ms[len(run_ms) // 10] * 1e3,
            "nodes": [{"op": op, "values": list(values), "us": float(us)} for op, values, us in kernels]}


def _request(model, *arguments):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--inputs", type=pathlib.Path, required=True)
    parser.add_argument("--outputs", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, required=True)
    for name in ("--threads", "--warmup-runs", "--min-runs", "--max-runs"):
        parser.add_argument(name, type=int, required=True)
    return parser.parse_known_args(arguments, argparse.Namespace(model=model))[0]


def main(path, *arguments):
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a runtime prints is no answer
    path = pathlib.Path(path)
    subject = path.stem
    try:
        adapter = _adapter(path)
        if arguments == ("--version",):
            answer.write(adapter.version())
            return
        work = _kernels if arguments[0] == "--nodes" else _session
        request = _request(*arguments[work is _kernels:])
        subject = f"{request.model}: {path.stem} cannot {'run' if work is _session else 'profile'} it"
        json.dump(work(adapter, request, on_gpu=path.stem.endswith("-cuda")), answer)
    except ImportError as error:
        _missing(path, error)
    except Exception as error:
        words = " ".join(str(error).split()) or type(error).__name__
        _fail(f"{subject}: {words[:1000]}")


main(*sys.argv[1:])
