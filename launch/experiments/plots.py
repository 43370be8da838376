"""Plots of tables as SVG, fit for print: colours that differ in grey (Okabe and Ito), line styles, markers, hatches."""

import io
import re
import textwrap

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from .tables import column, crossed, groups, interquartile_mean, interval, numbers

BINS = 40  # of a curve with more values of x than these
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
LINES, MARKERS, HATCHES = ["-", "--", "-.", ":", (0, (5, 1))], "os^Dv", ["", "///", "...", "xxx", "\\\\\\"]
SETTINGS = {"svg.hashsalt": "regraft", "text.parse_math": False, "font.size": 10, "axes.spines.top": False,
            "axes.spines.right": False, "axes.axisbelow": True, "hatch.linewidth": 0.4}
EXPLAINED = {"lines": "Line: interquartile mean. Band: the middle half of the values.",
             "bars": "Bar: interquartile mean. Whisker: its 95 % bootstrap interval.",
             "heat": "Figure and shade (logarithmic): the sum; blank: none.", "scatter": "Each point is a row."}


def has_points(plot, table):
    """Runs of before a curve was written have no figures for it."""
    known = numbers(table, plot.value if plot.kind == "heat" else plot.y).notna()
    return bool((known & numbers(table, plot.x).notna() if plot.kind in ("lines", "scatter") else known).any())


def draw(plot, table):
    """The SVG document."""
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        axes = figure.add_subplot(xlabel=plot.x_label or plot.x, ylabel=plot.y_label or plot.y)
        axes.set_title(textwrap.fill(plot.title, 80), loc="left", fontsize=10)
        {"lines": _lines, "bars": _bars, "heat": _heat, "scatter": _scatter}[plot.kind](plot, table, axes)
        if len(axes.get_legend_handles_labels()[1]) > 1:
            axes.legend(loc="upper left", bbox_to_anchor=(1, 1), title=plot.series.replace("_", " "), frameon=False)
        svg = io.StringIO()
        figure.savefig(svg, format="svg", metadata={"Date": None})
        return svg.getvalue()


def _label(name):
    """Of models' files their names alone; what is long on several lines."""
    name = re.sub(r"[^\s,]*/([^\s,/]+)\.onnx\b", r"\1", name).replace(",", ", ")
    return textwrap.fill(name, 24) or "(none)"


def _points(plot, table):
    """Of each series: keywords of its style, and its points; rows without numbers are left out."""
    points = pd.DataFrame({"x": numbers(table, plot.x), "y": numbers(table, plot.y),
                           "series": column(table, plot.series) if plot.series else plot.y}).dropna()
    for number, (name, rows) in enumerate(points.groupby("series", sort=False)):
        yield {"color": _style(number, COLOURS), "label": _label(name)}, number, rows[["x", "y"]]


def _style(number, kinds):
    return kinds[number % len(kinds)]


def _lines(plot, table, axes):
    axes.grid(axis="y", color="0.88")
    for style, number, points in _points(plot, table):
        low, width = points.x.min(), np.ptp(points.x) / BINS
        if points.x.nunique() > BINS:  # bins of equal width, each drawn at its middle
            points = points.assign(x=low + (np.minimum((points.x - low) // width, BINS - 1) + 0.5) * width)
        values = points.groupby("x").y
        middle = values.agg(interquartile_mean)
        axes.fill_between(middle.index, values.quantile(0.25), values.quantile(0.75), color=style["color"], alpha=0.2,
                          linewidth=0)
        axes.plot(middle, linestyle=_style(number, LINES), marker=None if len(middle) > 1 else "o", **style)


def _scatter(plot, table, axes):
    axes.grid(color="0.88")
    for style, number, points in _points(plot, table):
        axes.plot(points.x, points.y, linestyle="", marker=_style(number, MARKERS), markersize=4, alpha=0.7, **style)


def _bars(plot, table, axes):
    axes.grid(axis="y", color="0.88")
    axes.axhline(0, color="0.2", linewidth=0.8)
    found = groups(table, [plot.x, plot.series] if plot.series else [plot.x], plot.y)
    names = list(dict.fromkeys(column(table, plot.x)))
    series = list(dict.fromkeys(column(table, plot.series))) if plot.series else [plot.y]
    width = 0.8 / len(series)
    for number, one in enumerate(series):
        held = {i + (number + 0.5) * width - 0.4: found[key] for i, name in enumerate(names)
                if (key := (name, one) if plot.series else (name,)) in found}
        axes.bar(list(held), [interquartile_mean(values) for values in held.values()], 0.9 * width, label=_label(one),
                 color=_style(number, COLOURS), alpha=0.8, hatch=_style(number, HATCHES), edgecolor="white")
        for place, values in held.items():
            axes.vlines(place, *interval(values), color="0.1", linewidth=1.2)
    _name(axes.xaxis, names)


def _heat(plot, table, axes):
    sums = crossed(table, plot.y, plot.x, plot.value)
    cells = np.array([numbers(sums, name).fillna(0) for name in sums.columns[1:]]).T
    axes.figure.set_figheight(max(4.2, 1.5 + 0.2 * len(cells)))
    shown = np.ma.masked_less_equal(cells, 0)
    image = axes.imshow(shown, cmap="Blues", norm=LogNorm(max(shown.min(), 1e-9), shown.max() * 1.5), aspect="auto")
    axes.figure.colorbar(image, label=plot.value, format="%g").minorticks_off()
    for (row, at), value in np.ndenumerate(cells):
        if value > 0:
            axes.text(at, row, f"{value:g}", ha="center", va="center", fontsize=8,
                      color="white" if image.norm(value) > 0.6 else "black")
    _name(axes.xaxis, list(sums.columns[1:]))
    axes.set_yticks(range(len(sums)), sums.iloc[:, 0], fontsize=8)


def _name(axis, names):
    labels = list(map(_label, names))
    axis.set_ticks(range(len(names)), labels, **({"rotation": 30, "ha": "right"} if len("".join(labels)) > 40 else {}))
