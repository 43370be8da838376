"""What of a run's files becomes rows of a table."""

import json
import statistics

from .events import read_scalars
from .files import explained, require
from .tables import column, read_csv, show

REDUCTIONS = {"mean": statistics.fmean, "max": max, "min": min, "last": lambda values: values[-1], "count": len}
REMEDY = "correct [[rows]] of the experiment, or run the step again"


def extract(rows, folder):
    """The cells of the columns of `rows`, a line for each item of the file in a run's folder."""
    file = folder / rows.file
    items, cell = (_from_events if file.is_dir() else _from_csv if file.suffix == ".csv" else _from_json)(rows, file)
    return [[source[1:] if source.startswith("=") else cell(item, source) for source in rows.columns.values()]
            for item in items]


def require_wanted(rows, folders):
    """All that `where` names occurs in some item of some run."""
    files = [folder / rows.file for folder in folders]
    for pointer, values in rows.where.items():
        missing = {*values} - {_text(_at(item, pointer, file)) for file in files for item in _agreeing(rows, file)}
        wish = f"table '{rows.table}' wants items with '{pointer}' = {sorted(missing)}"
        require(not missing, f"{wish}, which no run has; the last one looked at is here", files[-1], REMEDY)


def _from_events(rows, folder):
    curves = read_scalars(folder)

    def cell(point, source):
        tag, step = point
        if source.startswith("@"):  # what another curve has at the same step
            return show(curves[source[1:]][step]) if step in curves.get(source[1:], {}) else ""
        known = {"step": str(step), "tag": tag.removeprefix(rows.tags), "value": show(curves[tag][step])}
        require(source in known, f"an event has step, tag, value, @TAG and =TEXT, no '{source}'", folder, REMEDY)
        return known[source]

    return [(tag, step) for tag in curves if tag.startswith(rows.tags) for step in curves[tag]], cell


def _from_csv(_, file):
    table = read_csv(file)
    return table.index, lambda row, source: column(table, source)[row]


def _from_json(rows, file):
    # Rows are what `each` points to.
    items = []
    for item in _agreeing(rows, file):
        found = _at(item, rows.each, file)
        several = isinstance(found, list) and (rows.each or not rows.where)
        pairs = isinstance(found, dict) and rows.each
        items += sorted(found.items()) if pairs else enumerate(found if several else [found])

    def cell(item, source):
        if source == "#key":
            return str(item[0])
        pointer, *how = source.rsplit(":", 1)
        value = _at(item[1], pointer, file)
        with explained((LookupError, TypeError, ValueError), f"'{source}': no reduction, or no number", file, REMEDY):
            return show(REDUCTIONS[how[0]](value)) if how else _text(value)

    return items, cell


def _agreeing(rows, file):
    # The whole of a file or, with `where`, the items of its list that agree.
    with explained(ValueError, "is no JSON", file, REMEDY):
        items = json.loads(file.read_text())
    if not rows.where:
        return [items]
    require(isinstance(items, list), "'where' needs a list", file, REMEDY)
    for pointer, values in rows.where.items():
        items = [item for item in items if _text(_at(item, pointer, file)) in values]
    require(items, "none of its items is as 'where' wants it", file, REMEDY)
    return items


def _at(item, pointer, file):
    # What a pointer (RFC 6901) leads to.
    with explained((LookupError, TypeError, ValueError), f"there is no '{pointer}' in it", file, REMEDY):
        for part in pointer.split("/")[1:]:
            item = item[int(part) if isinstance(item, list) else part.replace("~1", "/").replace("~0", "~")]
        return item


def _text(value):
    if value is None or isinstance(value, str):
        return value or ""
    return show(value) if isinstance(value, float) else json.dumps(value, sort_keys=True, separators=(",", ":"))
