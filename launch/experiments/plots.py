"""Plots of tables as SVG, fit for print (regraft.mplstyle)."""

import io
import pathlib
import textwrap

import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from .description import EXPLAINED
from .tables import column, groups, interquartile_mean, interval, numbers

STYLE = pathlib.Path(__file__).with_name("regraft.mplstyle")
BINS = 40  # of a curve with more values of x than these
MARKERS, HATCHES = "os^Dv", ["", "///", "...", "xxx", "\\\\\\"]


def draw(plot, table):
    with matplotlib.style.context(STYLE):
        axes = Figure().add_subplot(xlabel=plot.x_label or plot.x, ylabel=plot.y_label or plot.y,
                                    title=textwrap.fill(plot.title, 80))
        {"lines": _lines, "bars": _bars, "heat": _heat, "scatter": _scatter}[plot.kind](plot, table, axes)
        if plot.doublings:  # x by its logarithm, its values named; y from nothing
            axes.set_xscale("log", base=2)
            axes.set_xticks(numbers(table, plot.x).unique(), minor=False)
            axes.xaxis.set_major_formatter("{x:g}")
            axes.set_ylim(bottom=0)
        if len(axes.get_legend_handles_labels()[1]) > 1:
            axes.legend(loc="upper left", bbox_to_anchor=(1, 1), title=plot.series.replace("_", " "))
        svg = io.StringIO()
        axes.figure.supxlabel(EXPLAINED[plot.kind], x=0.01, ha="left", fontsize=7.5, color="0.3")
        axes.figure.savefig(svg, format="svg", metadata={"Date": None})
        return svg.getvalue()


def label(name):
    # A model's file by its name alone; what is long on several lines.
    parts = [pathlib.Path(part).stem if part.endswith(".onnx") else part for part in name.split(",")]
    return textwrap.fill(", ".join(parts), 24) or "(none)"


def _series(plot, table, x):
    # The number and name of each, and its rows with numbers. Without seeds each row stands for itself.
    rows = pd.DataFrame({"x": x, "y": numbers(table, plot.y), "seed": table.get("seed", table.index),
                         "series": column(table, plot.series) if plot.series else plot.y}).dropna()
    return [(i, label(name), found) for i, (name, found) in enumerate(rows.groupby("series", sort=False))]


def _lines(plot, table, axes):
    for _, name, points in _series(plot, table, numbers(table, plot.x)):
        if points.x.nunique() > BINS:  # bins of equal width, each drawn at its middle
            points = points.assign(x=[part.mid for part in pd.cut(points.x, BINS)])
        values = points.groupby(["x", "seed"]).y.mean().groupby("x")
        middle, bounds = values.agg(interquartile_mean), np.transpose([interval(found) for _, found in values])
        line, = axes.plot(middle, marker=None if len(middle) > 1 else "o", label=name)
        axes.fill_between(middle.index, *bounds, color=line.get_color(), alpha=0.2, linewidth=0)


def _scatter(plot, table, axes):
    for number, name, points in _series(plot, table, numbers(table, plot.x)):
        axes.plot(points.x, points.y, linestyle="", marker=MARKERS[number % len(MARKERS)], alpha=0.7, label=name)


def _bars(plot, table, axes):
    axes.axhline(0, color="0.2", linewidth=0.8, linestyle="-")
    names, series = list(dict.fromkeys(column(table, plot.x))), _series(plot, table, column(table, plot.x))
    for number, name, rows in series:
        values = rows.groupby("x", sort=False).y
        middles = values.agg(interquartile_mean)
        places = [names.index(x) - 0.4 + 0.8 * (number + 0.5) / len(series) for x in middles.index]
        axes.bar(places, middles, 0.72 / len(series), hatch=HATCHES[number % len(HATCHES)], label=name, alpha=0.8)
        axes.vlines(places, *np.transpose([interval(found) for _, found in values]), color="0.1", linewidth=1.2)
    _name(axes, names)


def _heat(plot, table, axes):
    sums = {key: found.sum() for key, found in groups(table, [plot.y, plot.x], plot.value).items()}
    rows, names = (list(dict.fromkeys(key[i] for key in sums)) for i in (0, 1))
    cells = np.ma.masked_invalid([[sums.get((row, name), np.nan) for name in names] for row in rows])
    axes.figure.set_figheight(max(4.2, 1.5 + 0.2 * len(cells)))
    axes.grid(False)
    image = axes.imshow(cells, norm="log", vmin=max(cells.min(), 1e-9), vmax=cells.max() * 1.5)
    axes.figure.colorbar(image, label=plot.value, format="%g").minorticks_off()
    for (row, at), value in np.ndenumerate(cells.filled(0)):
        if value > 0:
            axes.text(at, row, f"{value:g}", ha="center", va="center", fontsize=8,
                      color="white" if image.norm(value) > 0.6 else "black")
    _name(axes, names)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)


def _name(axes, names):
    labels = list(map(label, names))
    axes.set_xticks(range(len(names)), labels, **({"rotation": 30, "ha": "right"} if len("".join(labels)) > 40 else {}))
