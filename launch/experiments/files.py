"""Errors with what, where and remedy; files that appear whole or not at all."""

import contextlib
import difflib
import os
import pathlib


class ExperimentError(Exception):
    """A description, or a result, that cannot be used; the code is the one that the command exits with."""

    def __init__(self, what, where, remedy, code=1):
        super().__init__(f"{where}: {what} ({remedy})")
        self.code = code


def require(holds, *what_where_remedy):
    if not holds:
        raise ExperimentError(*what_where_remedy)


@contextlib.contextmanager
def explained(errors, what, where, remedy):
    try:
        yield
    except errors as error:
        raise ExperimentError(f"{what}: {getattr(error, 'strerror', error)}", where, remedy) from error


def nearest(word, known, otherwise):
    close = difflib.get_close_matches(word, list(known), 1)
    return f"did you mean '{close[0]}'?" if close else otherwise


def installed(path):
    """A file or folder such as configs/rules: below this folder, or else as the installation has it."""
    places = [pathlib.Path(), *pathlib.Path(__file__).resolve().parents]
    return next((place / path for place in places if (place / path).exists()), pathlib.Path(path))


def is_special(path):
    return str(path).startswith("/dev/") or os.path.exists(path) and not os.path.isfile(path)


def write(path, data):
    """Text or bytes, through a file beside it that takes its name; into what is no regular file (a pipe), directly."""
    path, data = pathlib.Path(path), data.encode() if isinstance(data, str) else data
    target = path.resolve()
    aside = target.with_name(f".{target.name}.{os.getpid()}")
    with explained(OSError, "cannot be written", path, "check the path and the disk"):
        if is_special(path):
            path.write_bytes(data)
            return
        try:
            aside.write_bytes(data)
            aside.replace(target)
        finally:
            aside.unlink(missing_ok=True)
