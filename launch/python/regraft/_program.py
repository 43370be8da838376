"""The program of this package, the libraries that it needs from others, and one run of it."""

import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

from ._errors import Error, NotEquivalent, UsageError

_PACKAGE = pathlib.Path(__file__).resolve().parent
_PROGRAM = _PACKAGE / "bin" / "regraft"
_ERRORS = {2: UsageError, 3: NotEquivalent}  # by exit code
_GRACE_S = 10  # for the program to remove what it has written aside


def main():
    """The command `regraft`: this process becomes the program, so that signals and exit codes are its own."""
    try:
        environment = _environment()
    except Error as error:
        sys.exit(f"regraft: {error}")
    os.execve(_PROGRAM, ["regraft", *sys.argv[1:]], environment)


def run(arguments, heard):
    """Runs the program to its end. heard: called with each line that it writes on standard error.

    Raises what the program says went wrong. Where the caller is interrupted the program is ended first.
    """
    environment = {**_environment(), "REGRAFT_ERRORS": "json"}
    process = subprocess.Popen([_PROGRAM, *arguments], env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
    error = last = ""
    try:
        with process.stderr as lines:
            for line in lines:
                if line.startswith("{"):
                    error = line
                else:
                    last = line
                    heard(line)
        code = process.wait()
    finally:
        _end(process)
    if code != 0:
        raise _error(code, error or last)


def _end(process):
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(_GRACE_S)
    finally:
        process.kill()
        process.wait()


def _error(code, line):
    if code < 0:
        return Error(f"the program was ended by {signal.Signals(-code).name}", "", "please report this")
    try:
        return _ERRORS.get(code, Error)(**json.loads(line))
    except (ValueError, TypeError):
        return _ERRORS.get(code, Error)(line.strip() or f"the program ended with exit code {code}")


def _environment():
    """That of the program: it looks beside this package for the libraries of others; elsewhere they must be named."""
    if not _PROGRAM.exists():
        raise Error("the program is missing", str(_PROGRAM), "install the wheel that launch/wheel.sh makes")
    folders = [folder for requirement in _requirements() for folder in _folders(*requirement)]
    environment = {"REGRAFT_PYTHON": sys.executable or "python3", **os.environ}  # for experiments and other runtimes
    if folders:
        former = environment.get("LD_LIBRARY_PATH")
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(map(str, folders + ([former] if former else [])))
    return environment


def _requirements():
    """(name, version) of each package whose libraries the program was linked with."""
    return re.findall(r"^(\w+)==([\w.]+)$", "\n".join(importlib.metadata.requires("regraft") or []), re.MULTILINE)


def _library(name, version):
    return {"torch": "lib/libtorch_cpu.so", "onnxruntime": f"capi/libonnxruntime.so.{version}"}[name]


def _folders(name, version):
    """The folders of its libraries, where they do not lie beside this package."""
    _check_version(name, version)
    library = _library(name, version)
    if (_PACKAGE.parent / name / library).exists():
        return []
    spec = importlib.util.find_spec(name)
    for place in (spec and spec.submodule_search_locations) or []:
        found = pathlib.Path(place) / library
        if found.exists():
            return [found.parent]
    raise Error(f"{name} {version} is not installed", "", f"pip install {name}=={version}")


def _check_version(name, version):
    try:
        there = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return  # a folder of libraries alone
    if there.partition("+")[0] != version:
        raise Error(f"{name} {there} is installed, and {version} is needed", "", f"pip install {name}=={version}")
