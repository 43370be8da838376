"""What of a run's files becomes rows of a table."""

import json
import pathlib
import statistics

from .events import read_scalars
from .files import ExperimentError
from .tables import column, read_csv, show

REDUCTIONS = {"mean": statistics.fmean, "max": max, "min": min, "last": lambda values: values[-1], "count": len}


def extract(rows, folder):
    """The cells of the columns of `rows`, a line for each item of the file in a run's folder."""
    file = pathlib.Path(folder) / rows.file
    kind = _from_events if file.is_dir() else _from_csv if file.suffix == ".csv" else _from_json
    return kind(rows, file)


def require_wanted(rows, folders):
    """All that `where` names occurs in some item of some run."""
    files = [pathlib.Path(folder) / rows.file for folder in folders]
    if any(file.is_dir() or file.suffix == ".csv" for file in files):
        return
    items = [(item, file) for file in files for item in _load(file) if _agrees(item, rows, file)]
    seen = {(pointer, _cell(item, "", pointer, file)) for item, file in items for pointer in rows.where}
    for wanted in [(pointer, value) for pointer, values in rows.where.items() for value in values]:
        if wanted not in seen:
            _missing(f"table '{rows.table}' wants items with '{wanted[0]}' = '{wanted[1]}', which no run of its steps "
                     "has; the last one looked at is here", files[-1])


def _missing(what, file):
    raise ExperimentError(what, file, "correct [[rows]] of the experiment, or run the step again")


def _load(file):
    try:
        return json.loads(file.read_text())
    except ValueError as error:
        _missing(f"is no JSON: {error}", file)


def _at(item, pointer, file):
    """What a pointer (RFC 6901) leads to."""
    try:
        for part in pointer.split("/")[1:]:
            item = item[int(part) if isinstance(item, list) else part.replace("~1", "/").replace("~0", "~")]
        return item
    except (KeyError, IndexError, TypeError, ValueError):
        _missing(f"there is no '{pointer}' in it", file)


def _cell(item, key, source, file):
    if source == "#key" or source.startswith("="):
        return key if source == "#key" else source[1:]
    pointer, _, how = source.rpartition(":") if ":" in source else (source, "", None)
    value = _at(item, pointer, file)
    if how is None:
        return value or "" if value is None or isinstance(value, str) else \
            show(value) if isinstance(value, float) else json.dumps(value, sort_keys=True, separators=(",", ":"))
    if how not in REDUCTIONS:
        _missing(f"unknown reduction ':{how}' ({', '.join(REDUCTIONS)})", file)
    if how != "count" and not (isinstance(value, list) and value and all(type(x) in (int, float) for x in value)):
        _missing(f"':{how}' needs a list of numbers, and met what is no number: {value}", file)
    return show(REDUCTIONS[how](value))


def _agrees(item, rows, file):
    return all(_cell(item, "", pointer, file) in values for pointer, values in rows.where.items())


def _from_json(rows, file):
    """Rows are what `each` points to in the whole file or, with `where`, in those items of its list that agree."""
    root, lines = _load(file), []
    if rows.where and not isinstance(root, list):
        _missing("'where' needs a list", file)
    items = [item for item in root if _agrees(item, rows, file)] if rows.where else [root]
    if not items:
        _missing("none of its items is as 'where' wants it", file)
    for found in (_at(item, rows.each, file) for item in items):
        whole = not rows.each and (isinstance(found, dict) or rows.where) or not isinstance(found, (dict, list))
        pairs = enumerate([found] if whole else found) if whole or isinstance(found, list) else sorted(found.items())
        lines += [[_cell(each, str(key), source, file) for source in rows.columns.values()] for key, each in pairs]
    return lines


def _from_csv(rows, file):
    table = read_csv(file)
    return list(zip(*([source[1:]] * len(table) if source.startswith("=") else column(table, source)
                      for source in rows.columns.values())))


def _from_events(rows, folder):
    curves = read_scalars(folder)

    def cell(source, tag, step, value):
        if source.startswith("@"):  # what another curve has at the same step
            value = curves.get(source[1:], {}).get(step)
            return "" if value is None else show(value)
        known = {"step": str(step), "tag": tag.removeprefix(rows.tags), "value": show(value)}
        if source not in known and not source.startswith("="):
            _missing(f"an event has step, tag, value, @TAG and =TEXT, no '{source}'", folder)
        return known.get(source, source[1:])

    return [[cell(source, tag, step, value) for source in rows.columns.values()]
            for tag, points in curves.items() if tag.startswith(rows.tags) for step, value in points.items()]
