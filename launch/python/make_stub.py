"""Prints the type stub of the package `regraft`, whose commands.json lies beside it: make_stub.py FOLDER"""

import importlib
import sys

_HEAD = '''# Written by launch/python/make_stub.py from the program's own commands.
import os
from collections.abc import Mapping, Sequence
from typing import Any, Dict, List, Literal, Optional, Protocol, Tuple, TypedDict, TypeVar, Union

__version__: str

class Error(Exception):
    what: str
    where: str
    remedy: str
    def __init__(self, what: str, where: str = ..., remedy: str = ...) -> None: ...

class UsageError(Error, ValueError): ...

class NotEquivalent(Error):
    report: Optional[VerifyReport]

class _Proto(Protocol):
    def SerializeToString(self) -> bytes: ...

_Path = Union[str, "os.PathLike[str]"]
_AnyModel = Union[_Path, bytes, _Proto]
_Model = TypeVar("_Model", bound=_AnyModel)
'''
_TYPES = {bool: "bool", int: "int", float: "float", str: "str", list: "List[Any]", dict: "Dict[str, Any]",
          type(None): "Optional[float]"}  # what was not measured


def _option_type(option):
    kind = {"flag": "bool", "number": "float", "integer": "int", "text": "_Path"}[option["type"]]
    if option["choices"]:
        kind = "Literal[" + ", ".join(map(repr, option["choices"])) + "]"
    return f"Union[{kind}, Sequence[{kind}], Mapping[str, Any]]" if option["repeats"] else kind


def _report(command, keys):
    lines = [f"    {key}: {_TYPES[type(value)]}" for key, value in keys.items()]
    return f"class {command.capitalize()}Report(TypedDict):\n" + "\n".join(lines) + "\n"


def _function(name, command, options, models, result):
    lines = [f"    {name}: Optional[{_option_type(option)}] = ...," for name, option in options.items()]
    return f"def {name}(\n    {models},\n    *,\n" + "\n".join(lines) + f"\n) -> {result}: ...\n"


def main(folder):
    sys.path.insert(0, folder)
    options = importlib.import_module("regraft._options")
    print(_HEAD)
    for command, keys in options.reports().items():
        print(_report(command, keys))
    for name, command, models, result in (
            ("optimise", "optimise", "model: _Model", "Tuple[_Model, OptimiseReport]"),
            ("verify", "verify", "original: _AnyModel, optimised: _AnyModel", "VerifyReport"),
            ("profile", "profile", "model: _AnyModel", "ProfileReport")):
        print(_function(name, command, options.table(command), models, result))
    print("optimize = optimise")


main(sys.argv[1])
