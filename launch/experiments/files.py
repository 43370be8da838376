"""Errors with what, where and remedy; files that appear whole or not at all."""

import contextlib
import difflib
import os
import pathlib


class ExperimentError(Exception):
    """A description, or a result, that cannot be used."""

    code = 1

    def __init__(self, what, where="", remedy=""):
        super().__init__((f"{where}: " if str(where) else "") + what + (f" ({remedy})" if remedy else ""))


class UsageError(ExperimentError):
    code = 2


def nearest(word, known, otherwise):
    close = difflib.get_close_matches(word, list(known), 1)
    return f"did you mean '{close[0]}'?" if close else otherwise


def is_special(path):
    return str(path).startswith("/dev/") or os.path.exists(path) and not os.path.isfile(path)


def write(path, data):
    """Text or bytes, through a file beside it that takes its name; into what is no regular file (a pipe), directly."""
    special = is_special(path)
    path = pathlib.Path(path if special else os.path.realpath(path))
    aside = path if special else path.with_name(f".{path.name}.{os.getpid()}")
    try:
        aside.write_bytes(data.encode() if isinstance(data, str) else data)
        if not special:
            os.replace(aside, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            special or aside.unlink()
        raise ExperimentError(f"cannot be written: {error.strerror}", path, "check the path and the disk") from error
