"""What an experiment is: reads and checks configs/experiments/NAME.toml (its README.md says what may stand there)."""

import pathlib
import re
import tomllib
from types import SimpleNamespace

from .files import ExperimentError, nearest


PLOT_KINDS = ("lines", "bars", "heat", "scatter")


def _is_list(value, of=str):
    return isinstance(value, list) and all(isinstance(each, of) for each in value)


def _is_some(value):
    return isinstance(value, str) or _is_list(value) and value != []


# For each kind of value: what it is where it is left out, what holds for it, what is wrong with another, the remedy.
KINDS = {
    "text": ("", lambda value: isinstance(value, str), "is not a string", "put it into quotes"),
    "plot": ("", lambda value: value in PLOT_KINDS, "is no kind of plot", f"choose one of {', '.join(PLOT_KINDS)}"),
    "number": (0, lambda value: type(value) in (int, float), "is not a number", "give a number"),
    "flag": (False, lambda value: isinstance(value, bool), "is neither true nor false", "write true or false"),
    "texts": ([], _is_list, "is not a list of strings", 'write ["...", "..."]'),
    "some": ([], _is_some, "is neither a string nor a list of them, or is empty", "name at least one"),
    "choices": ({}, lambda value: isinstance(value, dict) and all(map(_is_some, value.values())),
                "holds no strings or lists of them", 'write {KEY = ["...", "..."]}'),
    "names": ({}, lambda value: isinstance(value, dict) and _is_list([*value.values()]), "is not a table of strings",
              'write {COLUMN = "..."}'),
    "table": ({}, lambda value: isinstance(value, dict), "is not a table", "write [NAME]"),
    "tables": ([], lambda value: _is_list(value, dict), "is not a list of tables", "write [[NAME]]"),
}
# The keys of a file and of its tables, each with its kind, and ! where it must be there.
KEYS = {name: dict(key.split(":") for key in keys.split()) for name, keys in {
    "": "title:text! question:text! cpu_minutes:number! unpack:texts from:table matrix:table values:table small:table! "
        "step:tables rows:tables plot:tables summary:tables gap:tables",
    "from": "experiment:text! steps:texts!",
    "step": "name:text! over:texts only:choices run:some! resume:texts shared:flag",
    "rows": "table:text! step:some! file:text! each:text tags:text where:choices columns:names!",
    "plot": "kind:plot! name:text! title:text! table:text! x:text! y:text! series:text value:text x_label:text "
            "y_label:text",
    "summary": "name:text! title:text! table:text! by:texts! value:some!",
    "gap": "name:text! title:text! table:text! against:texts by:text! method:text! value:text! of:texts!"}.items()}


def as_list(value):
    return [value] if isinstance(value, str) else value


class _Source:
    """A file's text, for the lines that errors name: TOML itself has none."""

    def __init__(self, path):
        self.path, self.text = path, path.read_text()

    def fail(self, problem, remedy, header="", number=0, key=""):
        begins = [found.end() for found in re.finditer(rf"^\s*\[+{header}\]", self.text, re.M)]
        at = begins[number] if header and number < len(begins) else 0
        found = re.compile(rf'^\s*"?{re.escape(key)}"?\s*=', re.M).search(self.text, at) if key else None
        line = self.text.count("\n", 0, found.end() if found else at) + 1
        raise ExperimentError(problem, f"{self.path}:{line}", remedy)

    def parse(self):
        try:
            return tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            line = re.search(r"line (\d+)", str(error))
            raise ExperimentError(str(error), f"{self.path}:{line[1] if line else 1}", "correct the TOML") from error

    def table(self, values, header="", number=0):
        """Each key of a table and its value, checked."""
        keys, table = KEYS[header], SimpleNamespace()
        for key in set(values) - set(keys):
            self.fail(f"unknown key '{key}'", nearest(key, keys, "remove it"), header, number, key)
        for key, kind in keys.items():
            otherwise, holds, problem, remedy = KINDS[kind.rstrip("!")]
            if kind.endswith("!") and key not in values:
                self.fail(f"'{key}' is missing", "add it", header, number)
            if key in values and not holds(values[key]):
                self.fail(f"'{key}' {problem}", remedy, header, number, key)
            value = values.get(key, otherwise)
            setattr(table, key, as_list(value) if kind.startswith("some") else
                    {name: as_list(each) for name, each in value.items()} if kind == "choices" else value)
        return table

    def tables(self, root, name):
        return [self.table(each, name, number) for number, each in enumerate(root.get(name, []))]

    def values(self, header, table, spec):
        """Lists go into the matrix, strings into the values; what [small] has must be there already."""
        for key, value in table.items():
            known = [*spec.matrix, *spec.values]
            if header == "small" and key not in known:
                self.fail(f"'{key}' is neither in [matrix] nor in [values]", nearest(key, known, "name one that is"),
                          header, key=key)
            if not _is_some(value) or isinstance(value, str) and key in spec.matrix:
                self.fail(f"'{key}' has no values, another form than before, or is not a string",
                          "[matrix] holds lists of strings, [values] strings", header, key=key)
            (spec.values if isinstance(value, str) else spec.matrix)[key] = value


def _step(spec, name):
    found = [step for step in spec.steps if step.name == name]
    if not found:
        raise ExperimentError(f"there is no step '{name}'", f"experiment {spec.name}", "name one of [[step]]")
    return found[0]


def load(path, small):
    """The experiment of a file; with `small` the values of [small] replace those of [matrix] and [values]."""
    full = _load_form(pathlib.Path(path), False, [])
    return _load_form(pathlib.Path(path), True, []) if small else full


def _load_form(path, small, borrowers):
    source = _Source(path)
    root = source.parse()
    file = source.table(root)
    spec = SimpleNamespace(name=path.stem, title=file.title, question=file.question, cpu_minutes=file.cpu_minutes,
                           unpack=[], matrix={}, values={}, steps=[])
    if "from" in root:
        _borrow(spec, source, source.table(root["from"], "from"), small, [*borrowers, path.resolve()])
    spec.unpack += file.unpack
    source.values("matrix", file.matrix, spec)
    source.values("values", file.values, spec)
    if small:
        spec.cpu_minutes = file.small.pop("cpu_minutes", None)
        if not KINDS["number"][1](spec.cpu_minutes):
            source.fail("'cpu_minutes' is missing or not a number", "give a number", "small")
        source.values("small", file.small, spec)
    spec.steps += [SimpleNamespace(borrowed=False, **vars(step)) for step in source.tables(root, "step")]
    spec.rows = [SimpleNamespace(**{**vars(rows), "step": step}) for rows in source.tables(root, "rows")
                 for step in rows.step]
    spec.plots, spec.summaries, spec.gaps = (source.tables(root, name) for name in ("plot", "summary", "gap"))
    _check(spec, path, small)
    return spec


def _borrow(spec, source, borrowed, small, borrowers):
    """The steps that an experiment shares with another one, and what they read: that one's models and values."""
    other = source.path.with_name(borrowed.experiment + ".toml")
    if not other.exists():
        source.fail(f"there is no experiment '{other.stem}' to share steps with", "name a file beside this one", "from")
    if other.resolve() in borrowers:
        source.fail(f"[from] leads back to '{other.stem}', which borrows from this one",
                    "let the experiment that the steps are of have them without [from]", "from")
    lender = _load_form(other, small, borrowers)
    for name in borrowed.steps:
        spec.steps.append(SimpleNamespace(**{**vars(_step(lender, name)), "borrowed": True}))
        if not spec.steps[-1].shared:
            source.fail(f"step '{name}' of {lender.name} is not shared", "add shared = true to it there", "from")
    spec.unpack, spec.matrix, spec.values = lender.unpack, lender.matrix, lender.values


def _check(spec, path, small):
    """Names that others refer to exist, and steps only use keys, and in the full form values, of the matrix."""
    def require(holds, problem, remedy="give each a name of its own"):
        if not holds:
            raise ExperimentError(problem, path, remedy)

    require(spec.steps, "the experiment has no step", "add [[step]]")
    for step in spec.steps:
        require([each.name for each in spec.steps].count(step.name) == 1, f"there are two steps '{step.name}'")
        for key in step.over:
            require(key in spec.matrix, f"step '{step.name}' goes over '{key}', which is not in [matrix]",
                    nearest(key, spec.matrix, "add it there or leave it out"))
        for key, values in step.only.items():
            require(key in step.over, f"step '{step.name}' wants only some of '{key}', which it does not go over",
                    nearest(key, step.over, "add the key to over, or leave it out"))
            for value in [] if small or step.borrowed else values:
                require(value in spec.matrix[key], f"step '{step.name}' wants only '{value}' of '{key}', which "
                        "[matrix] does not have", "name a value of the full form's [matrix], or add it there")
    columns = {}  # of each table that is filled
    for rows in spec.rows:
        columns.setdefault(rows.table, set()).update(_step(spec, rows.step).over, rows.columns)
    readers = [("plot", plot, [plot.table], [plot.x, plot.y, plot.series, plot.value]) for plot in spec.plots]
    readers += [("summary", each, [each.table], each.by + each.value) for each in spec.summaries]
    readers += [("gap", gap, [*gap.against, gap.table], [gap.by, gap.method, gap.value]) for gap in spec.gaps]
    for what, reader, tables, wanted in readers:
        require(what != "plot" or reader.kind != "heat" or reader.value, f"heat map '{reader.name}' has no value",
                "add value = ...")
        require(what == "plot" or reader.name not in columns,
                f"{what} '{reader.name}' would overwrite the table of that name")
        for table in tables:
            require(table in columns, f"{what} '{reader.name}' reads table '{table}', which no [[rows]] fills",
                    nearest(table, columns, "name one that is filled"))
            for name in filter(None, wanted):
                require(name in columns[table], f"{what} '{reader.name}' reads column '{name}' of table '{table}', "
                        "which has none", nearest(name, columns[table], "name one of its [[rows]], or a key of a step"))
