"""What an experiment is: reads and checks configs/experiments/NAME.toml (its README.md says what may stand there)."""

import json
import pathlib
import re
import tomllib
from types import SimpleNamespace

from .files import ExperimentError, explained, nearest

REMEDY = "configs/experiments/README.md says what a description holds"
KEYS, COLUMNS, KINDS, EXPLAINED = tomllib.loads(pathlib.Path(__file__).with_name("keys.toml").read_text()).values()
STRING = r'"([^"\\]|\\.)*"'  # in JSON


def _is(kind, value):
    return re.fullmatch(KINDS[kind][1].replace("STRING", STRING), json.dumps(value, default=str))


def _as_list(value):
    return [value] if isinstance(value, str) else value


class _Source:
    """A file's tables, checked, and its text, for the lines that errors name: TOML itself has none."""

    def __init__(self, path):
        self.path, self.text = path, path.read_text()
        with explained(tomllib.TOMLDecodeError, "is no TOML", path, "correct it"):
            self.root = tomllib.loads(self.text)

    def require(self, holds, problem, header="", number=0, key="", remedy=REMEDY):
        # Or else an error at the line of a key of a table, which is number `number` of those with the header.
        if not holds:
            begins = [found.end() for found in re.finditer(rf"^\s*\[+{header}\]", self.text, re.M)]
            at = (begins[number:] or [0])[0]
            found = re.compile(rf'^\s*"?{re.escape(key)}"?\s*=', re.M).search(self.text, at)
            line = self.text.count("\n", 0, found.end() if found else at) + 1
            raise ExperimentError(problem, f"{self.path}:{line}", remedy)

    def among(self, known, name, problem, *place):
        self.require(name in known, problem, *place, remedy=nearest(name, known, REMEDY))

    def table(self, values, header="", number=0):
        # A namespace of all keys that a table may have.
        table = {}
        for key in values:
            self.among(KEYS[header], key, f"unknown key '{key}'", header, number, key)
        for key, kind in KEYS[header].items():
            self.require(key in values or kind[-1] != "!", f"'{key}' is missing", header, number)
            kind = kind.rstrip("!")
            otherwise, _, problem, remedy = KINDS[kind]
            value = values.get(key, otherwise)
            self.require(key not in values or _is(kind, value), f"'{key}' {problem}", header, number, key, remedy)
            table[key] = _as_list(value) if kind == "some" else value
        return SimpleNamespace(**table)

    def tables(self, name):
        return [self.table(each, name, number) for number, each in enumerate(self.root.get(name, []))]

    def values(self, spec, header, values, known):
        # Lists go into the matrix, strings into the values.
        for key, value in values.items():
            self.among(known, key, f"'{key}' is neither in [matrix] nor in [values]", header, 0, key)
            form, other = (spec.values, spec.matrix) if isinstance(value, str) else (spec.matrix, spec.values)
            fits = _is("some", value) and key not in other
            self.require(fits, f"'{key}' has no values, another form than before, or is not a string", header, 0, key)
            form[key] = value

    def borrow(self, spec, small, borrowers):
        # The steps that an experiment shares with another one, and what they read: that one's models and values.
        wanted = self.table(self.root["from"], "from")
        path = self.path.with_name(wanted.experiment + ".toml")
        self.require(path.exists(), f"there is no experiment '{path.stem}' beside this one", "from")
        self.require(path.resolve() not in borrowers, f"[from] leads back to '{path.stem}', a borrower itself", "from")
        lender = load(path, small, borrowers)
        spec.unpack, spec.matrix, spec.values, spec.borrowed = lender.unpack, lender.matrix, lender.values, wanted.steps
        for name in wanted.steps:
            self.among(lender.steps, name, f"{lender.name} has no step '{name}'", "from")
            self.require(lender.steps[name].shared, f"step '{name}' of {lender.name} is not shared", "from")
            spec.steps[name] = lender.steps[name]

    def steps(self, spec, small):
        # They only use keys, and in the full form values, of the matrix.
        for number, step in enumerate(self.tables("step")):
            what, place = f"step '{step.name}'", ("step", number)
            self.require(step.name not in spec.steps, f"there are two steps '{step.name}'", *place)
            for key in step.over:
                self.among(spec.matrix, key, f"{what} goes over '{key}', which is not in [matrix]", *place)
            for key, values in step.only.items():
                self.among(step.over, key, f"{what} wants only some of '{key}', which it does not go over", *place)
                for value in [] if small else values:
                    self.among(spec.matrix[key], value, f"{what} wants only '{value}' of '{key}'", *place)
            spec.steps[step.name] = step
        self.require(spec.steps, "the experiment has no step")

    def readers(self, spec):
        # The steps, tables and columns that they read are there.
        spec.rows, spec.plots, spec.summaries, spec.gaps = map(self.tables, ("rows", "plot", "summary", "gap"))
        filled = {}  # the columns of each table
        for number, rows in enumerate(spec.rows):
            for name in rows.step:
                self.among(spec.steps, name, f"there is no step '{name}'", "rows", number)
                filled.setdefault(rows.table, {""}).update(spec.steps[name].over, rows.columns)
        for kind, readers in ("plot", spec.plots), ("summary", spec.summaries), ("gap", spec.gaps):
            for number, reader in enumerate(readers):
                what, place = f"{kind} '{reader.name}'", (kind, number)
                self.require(kind == "plot" or reader.name not in filled, f"{what} would overwrite the table", *place)
                self.require(getattr(reader, "kind", "") != "heat" or reader.value, f"{what} has no value", *place)
                for table in [*getattr(reader, "against", []), reader.table]:
                    self.among(filled, table, f"{what} reads table '{table}', which no [[rows]] fills", *place)
                    for name in [name for key in COLUMNS[kind] for name in _as_list(getattr(reader, key))]:
                        self.among(filled[table], name, f"{what} reads column '{name}' of table '{table}'", *place)


def load(path, small, borrowers=()):
    """The experiment of a file; with `small` the values of [small] replace those of [matrix] and [values]."""
    path = pathlib.Path(path)
    if small and not borrowers:
        load(path, False)  # whose matrix alone has all values that steps may name
    source = _Source(path)
    file = source.table(source.root)
    spec = SimpleNamespace(name=path.stem, title=file.title, question=file.question, cpu_minutes=file.cpu_minutes,
                           unpack=[], matrix={}, values={}, steps={}, borrowed=[])
    if "from" in source.root:
        source.borrow(spec, small, [*borrowers, path.resolve()])
    spec.unpack += file.unpack
    source.values(spec, "matrix", file.matrix, file.matrix)
    source.values(spec, "values", file.values, file.values)
    if small:
        spec.cpu_minutes = file.small.pop("cpu_minutes", None)
        source.require(_is("number", spec.cpu_minutes), "'cpu_minutes' is missing or not a number", "small")
        source.values(spec, "small", file.small, [*spec.matrix, *spec.values])
    source.steps(spec, small)
    source.readers(spec)
    return spec
