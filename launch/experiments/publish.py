"""What is published of an experiment: summaries, plots and the record; one HTML page of any number of them."""

import base64
import json
import os
import pathlib
import tomllib
from types import SimpleNamespace

import jinja2
import pandas as pd

from .description import EXPLAINED
from .events import read_scalars
from .files import explained, is_special, require, write
from .plots import draw
from .tables import gaps, numbers, read_csv, summarise, to_csv

CURVES = tomllib.loads(pathlib.Path(__file__).with_name("curves.toml").read_text())


def publish(spec, result, small, out):
    """Writes summaries and gaps (NAME.csv), plots (PLOT.svg) and the record."""
    of = result.tables
    plots = [plot for plot in spec.plots if numbers(of[plot.table], plot.value or plot.y).notna().any()]
    tables = {(each.name, each.title): summarise(of[each.table], each.by, each.value) for each in spec.summaries}
    tables |= {(gap.name, gap.title): gaps(gap, of) for gap in spec.gaps}
    tables = {name: table for name, table in tables.items() if len(table)}
    for (name, _), table in tables.items():
        write(out / f"{name}.csv", to_csv(table))
    record = {**vars(result), "name": spec.name, "title": spec.title, "question": spec.question, "small": small,
              "budget_cpu_minutes": spec.cpu_minutes, "tables": list(of), "summaries": list(tables),
              "plots": [(plot.name, plot.title, EXPLAINED[plot.kind]) for plot in plots]}
    write(out / "experiment.json", json.dumps(record, indent=1) + "\n")
    for plot in plots:
        write(out / f"{plot.name}.svg", draw(plot, of[plot.table]))
    return record


def report_html(folders, output):
    """The page, whose links to CSV files hold where it is written to `output`."""
    page = jinja2.Template(pathlib.Path(__file__).with_name("page.html").read_text(), autoescape=True, trim_blocks=True)
    beside = "." if is_special(output) else pathlib.Path(output).parent
    return page.render(sections=[section for folder in folders for section in _sections(pathlib.Path(folder))],
                       link=lambda path: os.path.relpath(path, beside),
                       base64=lambda svg: base64.b64encode(svg.encode()).decode())


def _sections(folder):
    if (folder / "experiment.json").exists():
        return [_experiment(folder)]
    is_run = (folder / "config.toml").exists()
    require(is_run, "is neither an experiment's nor a run's folder", folder, "name one that experiment or train made")
    dreams = sorted(folder.glob("round-*/dream"), key=lambda path: (len(str(path)), path))
    return [_run(each, each.relative_to(folder.parent)) for each in [folder, *dreams]]


def _experiment(folder):
    path = folder / "experiment.json"
    with explained((ValueError, KeyError, TypeError), "is damaged", path, "run it again: what is done is kept"):
        record = json.loads(path.read_text())
        tables = [(title, folder / f"{name}.csv") for name, title in record["summaries"]]
        return {**record, "tables": [(title, read_csv(path), path) for title, path in tables],
                "files": [folder / f"{name}.csv" for name in record["tables"]],
                "plots": [(title, (folder / f"{name}.svg").read_text(), note) for name, title, note in record["plots"]]}


def _run(folder, name):
    # A training run. The fit of a world model has two parts, each over an x of its own (learner/world/world_curves.h).
    summary, config, plots = folder / "summary.json", folder / "config.toml", []
    for part, x_label in {"": "update", "collect": "steps collected", "fit": "update"}.items():
        rows = [(tag if tag in CURVES or tag.startswith("ppo/") else tag.partition("/")[0], tag, step, value)
                for tag, points in read_scalars(folder / "events" / part).items() for step, value in points.items()]
        curves = pd.DataFrame(rows, columns=["group", "curve", "update", "value"])
        groups = dict(list(curves.groupby("group", sort=False)))  # a plot of those with one first part
        for group in sorted(groups, key=lambda group: ([*CURVES, group].index(group))):
            title, y_label = CURVES.get(group, (group, "value"))
            plot = SimpleNamespace(kind="lines", title=title, x="update", y="value", series="curve", x_label=x_label,
                                   y_label=y_label, doublings=False)
            table = groups[group].assign(curve=groups[group].curve.str.removeprefix(f"{group}/"))
            plots.append((plot.title, draw(plot, table), ""))
    return {"title": f"Run {name}", "finished": summary.exists(), "plots": plots,
            "details": [(path.stem, path.read_text()) for path in (summary, config) if path.exists()]}
