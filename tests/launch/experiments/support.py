"""An experiment whose program is the shell, in a folder of its own."""

import pathlib
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE))

from launch.experiments.description import load  # noqa: E402
from launch.experiments.files import ExperimentError  # noqa: E402
from launch.experiments.plan import plan_runs  # noqa: E402
from launch.experiments.runs import Stop, run_experiment  # noqa: E402

# Two steps, the second reads what the runs of the first wrote.
NUMBERS = r'''
title = "Numbers"
question = "What do they add up to?"
cpu_minutes = 1
[matrix]
letter = ["a", "b"]
seed = ["1", "2", "3"]
[values]
factor = "10"
[small]
cpu_minutes = 0.5
seed = ["1"]
factor = "2"
[[step]]
name = "make"
over = ["letter", "seed"]
run = ["-c", "echo run >> {out}/calls; echo '{\"items\": [{\"n\": '$(({seed} * {factor}))', \"list\": [1, {seed}]}]}' > {out}/x.json"]
[[step]]
name = "count"
over = ["letter"]
run = ["-c", "ls \"$@\" | wc -l > {out}/count; echo letter,files > {out}/c.csv; echo '{letter},'$(cat {out}/count) >> {out}/c.csv", "sh", "{all:make}/x.json"]
[[rows]]
table = "numbers"
step = "make"
file = "x.json"
each = "/items"
columns = {n = "/n", last = "/list:last", mean = "/list:mean"}
[[rows]]
table = "numbers"
step = "count"
file = "c.csv"
columns = {files = "files"}
[[plot]]
kind = "bars"
name = "bars"
title = "N"
table = "numbers"
x = "letter"
y = "n"
[[summary]]
name = "sums"
title = "Interquartile means"
table = "numbers"
by = ["letter"]
value = "n"
'''


class Case(unittest.TestCase):
    text = NUMBERS

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out, self.file = self.folder / "out", self.folder / "numbers.toml"
        self.write(self.text)

    def write(self, text, name="numbers"):
        (self.folder / f"{name}.toml").write_text(text)

    def replaced(self, *pairs, text=None):
        text = text or self.text
        for before, after in zip(pairs[::2], pairs[1::2]):
            self.assertIn(before, text)
            text = text.replace(before, after, 1)
        return text

    def run_it(self, small=False, file=None, report=lambda line: None, stop=None):
        return run_experiment(load(file or self.file, small), "/bin/sh", self.out, report, stop or Stop())

    def load_error(self, *pairs):
        """What is said of the description with its texts replaced."""
        self.write(self.replaced(*pairs))
        with self.assertRaises(ExperimentError) as caught:
            plan_runs(load(self.file, False), self.out)
        return str(caught.exception)

    def rows(self, table):
        return [list(row) for row in table.itertuples(index=False)]

    def reused(self, result):
        return [run["reused"] for run in result.runs]
