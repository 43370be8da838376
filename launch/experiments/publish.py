"""What is published of an experiment: summaries, plots and the record; one HTML page of any number of them."""

import base64
import json
import os
import pathlib
from types import SimpleNamespace

import jinja2
import pandas as pd

from .events import read_scalars
from .files import ExperimentError, is_special, write
from .plots import EXPLAINED, draw, has_points
from .tables import crossed, gaps, read_csv, show, summarise, to_csv


def publish(spec, result, small, out):
    """Writes summaries and gaps (NAME.csv), plots (PLOT.svg; of heat maps PLOT_figures.csv too) and the record."""
    out, summaries = pathlib.Path(out), {}
    tables = [(each.name, each.title, summarise(result.tables[each.table], each.by, each.value))
              for each in spec.summaries]
    tables += [(gap.name, gap.title, gaps(gap, result.tables)) for gap in spec.gaps]
    drawn = [plot for plot in spec.plots if has_points(plot, result.tables[plot.table])]
    tables += [(f"{each.name}_figures", f"{each.title}, in figures",
                crossed(result.tables[each.table], each.y, each.x, each.value))
               for each in drawn if each.kind == "heat"]
    for name, title, table in tables:
        if len(table):
            write(out / f"{name}.csv", to_csv(table))
            summaries[name] = title
    record = {"name": spec.name, "title": spec.title, "question": spec.question, "small": small,
              "complete": result.complete, "cpu_minutes": result.cpu_minutes, "budget_cpu_minutes": spec.cpu_minutes,
              "borrowed_cpu_minutes": result.borrowed_cpu_minutes, "runs": result.runs, "tables": list(result.tables),
              "summaries": list(summaries.items()), "plots": []}
    write(out / "experiment.json", json.dumps(record, indent=1) + "\n")  # a plot that cannot be drawn costs no figures
    for plot in drawn:
        write(out / f"{plot.name}.svg", draw(plot, result.tables[plot.table]))
        record["plots"].append((plot.name, plot.title, EXPLAINED[plot.kind]))
    write(out / "experiment.json", json.dumps(record, indent=1) + "\n")
    return record


def describe_use(record):
    """Of the budget."""
    used, budget, borrowed = (record.get(f"{kind}cpu_minutes", 0) for kind in ("", "budget_", "borrowed_"))
    return f"{used:.1f} of {budget:.0f} CPU-minutes" + (", over the declared budget" if used > budget else "") + (
        f", beside {borrowed:.1f} of steps borrowed" if borrowed else "")


def report_html(folders, output):
    """The page, whose links to CSV files hold where it is written to `output`."""
    sections = [section for folder in folders for section in _sections(pathlib.Path(folder))]
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    beside = "." if is_special(output) else pathlib.Path(output).parent
    environment.filters["link"] = lambda path: os.path.relpath(path, beside)
    environment.filters["data"] = lambda svg: "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
    return environment.from_string(pathlib.Path(__file__).with_name("page.html").read_text()).render(sections=sections)


def _sections(folder):
    if (folder / "experiment.json").exists():
        return [_experiment(folder)]
    rounds = [folder / f"round-{number}" for number in range(1, 1 + len(list(folder.glob("round-*"))))]
    if (folder / "config.toml").exists() and ((folder / "events").exists() or any(map(pathlib.Path.exists, rounds))):
        dreams = [each / "dream" for each in rounds if (each / "dream/events").exists()]
        return [_run(each, each.relative_to(folder.parent)) for each in [folder, *dreams]]
    raise ExperimentError("is neither an experiment's nor a run's folder", folder,
                          "name one that `regraft experiment --out` or `regraft train --run` made")


def _section(title, kind, state, question="", tables=(), files=(), pictures=(), details=(), missing=()):
    return SimpleNamespace(**locals())


def _experiment(folder):
    try:
        record = json.loads((folder / "experiment.json").read_text())
        failed = [f"{run['label']}: {run['failure']}" for run in record["runs"] if run["failure"]]
        commands = [f"# {run['label']}: {run['failure'] or show(run['seconds']) + ' s'}\nregraft "
                    + " ".join(run["arguments"]) for run in record["runs"]]
        return _section(
            record["title"], "small form" if record["small"] else "experiment",
            f"{len(commands) - len(failed)} of {len(commands)} runs done, {describe_use(record)}", record["question"],
            [(title, read_csv(folder / f"{name}.csv"), folder / f"{name}.csv") for name, title in record["summaries"]],
            [folder / f"{name}.csv" for name in record.get("tables", [])],  # not in older ones
            [(title, (folder / f"{name}.svg").read_text(), "".join(note)) for name, title, *note in record["plots"]],
            [("Commands and their times", "\n".join(commands))], failed)
    except (ValueError, KeyError, TypeError) as error:
        raise ExperimentError(f"is damaged: {error!r}", folder / "experiment.json",
                              "run the experiment again: what is done is kept") from error


def _run(folder, name):
    """A training run. The fit of a world model has two parts, each over an x of its own (learner/world/world_curves.h)."""
    files = {"Summary": folder / "summary.json", "Config": folder / "config.toml"}
    pictures = []
    for part in ("", "collect", "fit"):
        groups = {}
        for tag, points in read_scalars(folder / "events" / part).items():  # a plot of those with one first part
            group, _, curve = (tag, "", "") if tag.startswith("ppo/") else tag.partition("/")
            groups.setdefault(group, []).extend((str(step), str(value), curve or tag) for step, value in points.items())
        for group, rows in groups.items():
            plot = SimpleNamespace(kind="lines", title=f"{part}: {group}" if part else group, x="update", y="value",
                                   series="curve", x_label="", y_label="")
            pictures.append((plot.title, draw(plot, pd.DataFrame(rows, columns=["update", "value", "curve"])), ""))
    state = "finished" if files["Summary"].exists() else "not finished"
    return _section(f"Run {name}", "training run", state, pictures=pictures,
                    details=[(title, path.read_text()) for title, path in files.items() if path.exists()])
