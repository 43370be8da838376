"""Tables of an experiment: data frames of text, as its CSV files hold them, and the statistics of their numbers."""

import csv

import numpy as np
import pandas as pd

from .files import explained, require

RESAMPLES, BOUNDS = 2000, (0.025, 0.975)  # of the bootstrap, and of its intervals


show = "{:.6g}".format


def to_csv(table):
    return table.to_csv(index=False, lineterminator="\n")


def read_csv(path):
    with explained((csv.Error, ValueError), "is cut off", path, "run the step that writes it again"):
        with open(path, newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file, strict=True)
        rows = [row or [""] for row in rows]
        for number, row in enumerate(rows, 2):
            if len(row) != len(header):
                raise ValueError(f"row {number} has {len(row)} cells, the header {len(header)}")
        return pd.DataFrame(rows, columns=header, dtype=str)


def column(table, name):
    require(name in table, f"there is no column '{name}'", "a table of results", "it has " + ", ".join(table))
    return table[name]


def numbers(table, name):
    # NaN where a cell is empty or no finite number.
    return pd.to_numeric(column(table, name), errors="coerce").astype(float).replace([np.inf, -np.inf], np.nan)


def groups(table, by, value):
    """{key: numbers} by the values of columns, in order of their first rows; cells without a number are left out."""
    found = {}
    for *key, number in zip(*(column(table, name) for name in by), numbers(table, value)):
        if not np.isnan(number):
            found.setdefault(tuple(key), []).append(number)
    return {key: np.array(values) for key, values in found.items()}


def interquartile_mean(values):
    """The mean of the middle half along the last axis, values at its borders by their share (Agarwal et al. 2021)."""
    count = np.shape(values)[-1]
    place = np.arange(count)
    share = np.clip(np.minimum(place + 1, 0.75 * count) - np.maximum(place, 0.25 * count), 0, 1)
    return np.sort(values) @ share / (count / 2)


def interval(values):
    """95 % of the interquartile mean, by the percentile bootstrap (Efron 1979); equal values have an equal one."""
    resamples = np.random.default_rng(0).choice(values, (RESAMPLES, len(values)))
    return np.quantile(interquartile_mean(resamples), BOUNDS)


def summarise(table, by, values):
    """A row for each value and group: how many there are, the interquartile mean and its interval."""
    several = len(values) > 1
    rows = [[*key, *[value] * several, str(len(found)), *map(show, (interquartile_mean(found), *interval(found)))]
            for value in values for key, found in groups(table, by, value).items()]
    return pd.DataFrame(rows, columns=[*by, *["figure"] * several, "n", "iqm", "low", "high"], dtype=str)


def gaps(gap, tables):
    """How far methods stay behind the best known, for each value of `by`: 100 (cost - best cost) / best cost."""
    # The cost of a return r is 1 - r. Returns are the highest of `table`, the best known of those in `against` too.
    best, held = {}, {}
    for name in [name for name in tables if name in (gap.table, *gap.against)]:
        for (key, method), found in groups(tables[name], [gap.by, gap.method], gap.value).items():
            best[key] = max(best.get(key, (-np.inf, "")), (found.max(), method), key=lambda each: each[0])
            if name == gap.table:
                held[key, method] = found.max()
    rows = [[key, show(value), by, *("" if (key, method) not in held or value >= 1 else
                                     f"{100 * (value - held[key, method]) / (1 - value):.2f}" for method in gap.of)]
            for key, (value, by) in best.items()]
    return pd.DataFrame(rows, columns=[gap.by, "best", "best_by", *(f"gap_{method}" for method in gap.of)], dtype=str)
