"""What is published of an experiment: summaries, plots and the record; one HTML page of any number of them."""

import base64
import fnmatch
import json
import os
import pathlib
import tomllib
from statistics import fmean
from types import SimpleNamespace

import jinja2
import pandas as pd

from .events import read_scalars
from .files import explained, is_special, require, write
from .plots import draw, label
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
              "plots": [(plot.name, plot.title) for plot in plots]}
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
        summaries = [(name, title, read_csv(folder / f"{name}.csv")) for name, title in record["summaries"]]
        results = [line for _, title, table in summaries[:1] if "iqm" in table for line in _extremes(title, table)]
        plots = [(title, (folder / f"{name}.svg").read_text()) for name, title, *_ in record["plots"]]
        return {**record, "folder": folder, "summaries": summaries, "results": results, "plots": plots}


def _extremes(title, table):
    # The lowest and the highest interquartile mean of each figure of a summary, and what they are of.
    keys = list(table).index("n")
    for _, rows in table.groupby("figure" if "figure" in table else lambda _: 0, sort=False):
        ends = rows.sort_values("iqm", key=pd.to_numeric).iloc[[0, -1]].itertuples(index=False)
        yield f"{title}: " + " to ".join(f"{row.iqm} ({', '.join(map(label, row[:keys]))})" for row in ends)


def _run(folder, name):
    # A training run. The fit of a world model has two parts, each over an x of its own (learner/world).
    summary, config, results, plots = folder / "summary.json", folder / "config.toml", [], []
    for part, x_label in {"": "update", "collect": "steps collected", "fit": "update"}.items():
        curves = read_scalars(folder / "events" / part)
        results += _results(curves)
        for pattern, (title, y_label) in {**CURVES, **{tag: (tag, "value") for tag in curves}}.items():
            rows = [(tag.removeprefix(pattern.partition("*")[0]), step, value)
                    for tag in fnmatch.filter(curves, pattern) for step, value in curves.pop(tag).items()]
            plot = SimpleNamespace(kind="lines", title=title, x="update", y="value", series="curve", x_label=x_label,
                                   y_label=y_label, doublings=False)
            if rows:
                plots.append((title, draw(plot, pd.DataFrame(rows, columns=["curve", "update", "value"]))))
    return {"title": f"Run {name}", "finished": summary.exists(), "results": results, "plots": plots,
            "details": [(path.stem, path.read_text()) for path in (summary, config) if path.exists()]}


def _results(curves):
    # What the curves of a training run came to.
    for tag in fnmatch.filter(curves, "*return*"):
        values = list(curves[tag].values())
        end = fmean(values[-len(values) // 10:])
        yield f"{tag}: {end:.4g} at the end (mean of the last tenth), {max(values):.4g} at best"
    speed = sum(fmean(curves[tag].values()) for tag in fnmatch.filter(curves, "steps_per_s/*"))
    if speed:
        yield f"{speed:.4g} policy steps a second"
