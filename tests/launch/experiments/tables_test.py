"""Tables and their statistics, against slow and obvious ones."""

import itertools
import math
import random
import statistics
import unittest
from types import SimpleNamespace

import numpy as np
import pandas as pd
from support import Case

from launch.experiments.files import ExperimentError
from launch.experiments.tables import gaps, interquartile_mean, interval, read_csv, summarise, to_csv

GAP = SimpleNamespace(name="gaps", title="", table="returns", against=["scripts"], by="model", method="method",
                      value="return", of=["greedy", "taso"])


def table_of(*rows, columns=("model", "method", "return")):
    return pd.DataFrame(rows, columns=columns, dtype=str)


def slow_interquartile_mean(values):
    """Each value four times over, so that quarters of the list are whole."""
    fourfold = sorted(values * 4)
    quarter = len(values)
    return statistics.fmean(fourfold[quarter:3 * quarter])


class Csv(Case):
    def test_comes_back_as_it_was(self):
        table = table_of(["1", 'say "x"'], ["", "two\nlines"], ["NA", "0010"], columns=("a", "b, c"))
        (self.folder / "t.csv").write_text(to_csv(table))
        again = read_csv(self.folder / "t.csv")
        self.assertEqual(list(again), list(table))
        self.assertEqual(self.rows(again), self.rows(table))

    def test_a_damaged_file_is_named(self):
        for text, said in [("a,b\n1\n", "row 2 has 1 cells"), ("a,b\n1,2\n1,2,3\n", "row 3 has 3"),
                           ("a\n\"1\n", "unexpected end"), ("", "not enough")]:
            (self.folder / "t.csv").write_text(text)
            with self.subTest(text), self.assertRaisesRegex(ExperimentError, f"t.csv: .*{said}"):
                read_csv(self.folder / "t.csv")


class Summaries(Case):
    def test_are_interquartile_means_by_group(self):
        rows = [["m", "0"], ["m", "1"], ["n", "nan?"], ["n", "nan"], ["n", "inf"], ["m", "2"], ["n", "5"], ["m", "100"]]
        summary = summarise(table_of(*rows, columns=("model", "value")), ["model"], ["value"])
        self.assertEqual(list(summary), ["model", "n", "iqm", "low", "high"])
        self.assertEqual(self.rows(summary)[0][:3], ["m", "4", "1.5"])
        self.assertEqual(self.rows(summary)[1], ["n", "1", "5", "5", "5"])

    def test_of_several_values_name_each(self):
        table = table_of(["m", "1", "10"], ["m", "2", "10"], columns=("model", "a", "b"))
        summary = summarise(table, ["model"], ["a", "b"])
        self.assertEqual(list(summary), ["model", "figure", "n", "iqm", "low", "high"])
        self.assertEqual(self.rows(summary)[0][:4], ["m", "a", "2", "1.5"])
        self.assertEqual(self.rows(summary)[1], ["m", "b", "2", "10", "10", "10"])
        self.assertEqual(self.rows(summarise(table, [], ["b"])), [["2", "10", "10", "10"]], "all rows are one group")

    def test_interquartile_means_are_those_of_the_middle_half(self):
        stream = random.Random(7)
        for count in range(1, 24):
            values = [stream.gauss(0, 3) for _ in range(count)]
            self.assertAlmostEqual(interquartile_mean(np.array(values)), slow_interquartile_mean(values), msg=values)

    def test_intervals_are_quantiles_over_all_resamples(self):
        """Of four values there are 256 resamples; drawing 2,000 of them comes near all of them."""
        values = [0.0, 1.0, 3.0, 10.0]
        means = sorted(slow_interquartile_mean(list(each)) for each in itertools.product(values, repeat=4))
        low, high = interval(np.array(values))
        tail = 0.025
        self.assertLessEqual(means[math.floor((tail - 0.012) * 256)], low)
        self.assertGreaterEqual(means[math.ceil((tail + 0.012) * 256)], low)
        self.assertLessEqual(means[math.floor((1 - tail - 0.012) * 256)], high)
        self.assertGreaterEqual(means[math.ceil((1 - tail + 0.012) * 256) - 1], high)
        self.assertEqual(tuple(interval(np.array(values))), (low, high), "the same table has the same intervals")

    def test_intervals_cover_what_is_estimated_as_often_as_they_say(self):
        """Of 30 normal values each; the percentile bootstrap covers a little less than 95 % of the time."""
        stream = np.random.default_rng(11)
        bounds = [interval(stream.normal(size=30)) for _ in range(200)]
        covered = sum(low <= 0 <= high for low, high in bounds)
        self.assertTrue(174 <= covered <= 199, covered)


class Gaps(Case):
    def test_are_in_percent_of_the_best_cost_of_any_table(self):
        result = gaps(GAP, {
            "returns": table_of(["v", "greedy", "0.2"], ["v", "taso", "0.19"], ["v", "greedy", "0.25"],
                                ["w", "greedy", "0.5"], ["w", "all_sites_descent", "0.6"], ["w", "taso", "none"]),
            "scripts": table_of(["v", "script x", "0.5"], ["v", "greedy", "0.9"], ["w", "script y", "-1"]),
            "other": table_of(["v", "cheat", "0.99"])})
        self.assertEqual(list(result), ["model", "best", "best_by", "gap_greedy", "gap_taso"])
        # Costs 0.1 (greedy's of the other table), 0.75 and 0.81; then 0.4 and 0.5, and TASO's search has none.
        self.assertEqual(self.rows(result), [["v", "0.9", "greedy", "650.00", "710.00"], ["w", "0.6", "all_sites_descent", "25.00", ""]])

    def test_a_best_that_no_method_misses_is_a_gap_of_nothing(self):
        result = gaps(GAP, {"returns": table_of(["v", "greedy", "0.1"], ["v", "taso", "0.1"])})
        self.assertEqual(self.rows(result), [["v", "0.1", "greedy", "0.00", "0.00"]])


if __name__ == "__main__":
    unittest.main()
