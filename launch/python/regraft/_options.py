"""The options of the program's commands as keyword arguments: derived from commands.json, the program's own account."""

import difflib
import inspect
import json
import os
import pathlib
from collections.abc import Mapping, Sequence

from ._errors import UsageError

_COMMANDS = json.loads((pathlib.Path(__file__).parent / "commands.json").read_text(encoding="utf-8"))
_OWN = {"help", "json"}  # documentation, and the report that a function returns


def version():
    return _COMMANDS["version"]


def reports():
    """The keys of each command's report, with a value of each one's type."""
    return _COMMANDS["reports"]


def table(command):
    """The options of a command by the names that they have in Python."""
    options = next(each for each in _COMMANDS["commands"] if command in each["names"])["options"]
    named = ((option["names"][-1].lstrip("-"), option) for option in options if not option["argument"])
    return {name.replace("-", "_"): option for name, option in named if name not in _OWN}


def arguments(command, given):
    """Command line arguments of the options that were given; raises UsageError for an unknown one."""
    known = table(command)
    result = []
    for name, value in given.items():
        if name not in known:
            raise UsageError(f"there is no option {name!r}", f"regraft.{command}", _suggestion(name, known))
        if value is not None:
            result += _of_option(known[name], value, f"regraft.{command}: {name}")
    return result


def document(command):
    """Decorator: the function's signature and documentation name all options of the command."""
    def decorate(function):
        own = [each for each in inspect.signature(function).parameters.values() if each.kind != each.VAR_KEYWORD]
        options = {name: option for name, option in table(command).items() if name not in {each.name for each in own}}
        keywords = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_default(option))
                    for name, option in options.items()]
        function.__signature__ = inspect.Signature(own + keywords)
        lines = [f"    {name}: {_help(option)}" for name, option in options.items()]
        text = f"\n    Options, as those of `regraft {command}`:\n\n" + "\n".join(lines) + "\n"
        function.__doc__ = (function.__doc__ or "") + text  # none under python -OO
        return function
    return decorate


def _suggestion(name, known):
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else "there are " + ", ".join(known)


def _of_option(option, value, where):
    name = option["names"][-1]
    if option["type"] == "flag":
        if not isinstance(value, bool):
            raise UsageError(f"is True or False, not {value!r}", where)
        return [name] if value else []
    if isinstance(value, Mapping):
        value = [f"{key}={_text(each)}" for key, each in value.items()]
    if not _is_list(value):
        return [f"{name}={_text(value)}"]
    if not option["repeats"]:
        raise UsageError(f"takes one value, not {value!r}", where)
    return [f"{name}={_text(each)}" for each in value]


def _is_list(value):
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _text(value):
    if _is_list(value):
        return ",".join(map(_text, value))
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _default(option):
    if option["type"] == "flag":
        return False
    kind = {"integer": int, "number": float}.get(option["type"], str)
    return kind(option["default"]) if option["default"] else None


def _help(option):
    return option["help"] + (f"; one of {', '.join(option['choices'])}" if option["choices"] else "")
