"""What is published of an experiment: plots, the record, the page; and the commands, as the program runs them."""

import base64
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import unittest
import xml.etree.ElementTree as xml
from html.parser import HTMLParser
from types import SimpleNamespace

import pandas as pd
from support import Case

from launch.experiments.description import load
from launch.experiments.events import read_scalars
from launch.experiments.files import ExperimentError, write
from launch.experiments.plots import draw
from launch.experiments.publish import CURVES, publish, report_html
from launch.experiments.tables import read_csv

PROGRAM = pathlib.Path(os.environ.get("REGRAFT_BUILD", pathlib.Path(__file__).parents[3] / "build/release")) / "regraft"
RUN = pathlib.Path(__file__).parent / "run"


def plot_of(kind, **keys):
    named = {"name": "p", "title": "T", "table": "t", "x": "x", "y": "y", "series": "", "value": "", "x_label": "",
             "y_label": "", "doublings": False}
    return SimpleNamespace(kind=kind, **{**named, **keys})


def spec_of(*plots):
    return SimpleNamespace(name="n", title="N", question="?", cpu_minutes=1, plots=plots, summaries=[], gaps=[])


def result_of(table, used=0, borrowed=0):
    return SimpleNamespace(runs=[], tables={"t": table}, cpu_minutes=used, borrowed_cpu_minutes=borrowed, complete=True)


class Page(HTMLParser):
    """The tables of a page as lists, its links, pictures and ids."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.links, self.pictures, self.ids, self.text, self.in_cell = [], [], [], [], "", False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, kept in ("id", self.ids), ("href", self.links), ("src", self.pictures):
            kept += [value for key, value in attrs if key == name]
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self.in_cell = True

    def handle_endtag(self, tag):
        self.in_cell = self.in_cell and tag not in ("td", "th")

    def handle_data(self, data):
        self.text += data
        if self.in_cell:
            self.tables[-1][-1][-1] += data

    def svgs(self):
        return [base64.b64decode(picture.partition("base64,")[2]).decode() for picture in self.pictures]


class Plots(Case):
    def table(self):
        rows = [[str(i), str(i * i % 17), "ev\"en_{ `echo $((6*7))` $x^2$ <b>" if i % 2 == 0 else "odd", "3"]
                for i in range(100)]
        return pd.DataFrame(rows, columns=["x", "y", "name", "value"], dtype=str)

    def test_every_kind_is_drawn_with_its_words_as_they_are(self):
        for kind in ("lines", "bars", "heat", "scatter"):
            with self.subTest(kind):
                keys = {"x": "name" if kind in ("bars", "heat") else "x", "series": "" if kind == "heat" else "name",
                        "value": "value" if kind == "heat" else "", "title": "A \"title\" of `$_{x}$` & more",
                        "x_label": "time [ms]"}
                svg = draw(plot_of(kind, **keys), self.table())
                xml.fromstring(svg)
                words = re.findall("<!-- (.*?) -->", svg, re.DOTALL)
                for text in ("A \"title\" of `$_{x}$` &amp; more", "time [ms]", "odd"):
                    self.assertIn(text, words)
                self.assertEqual(words.count("odd"), 2 if kind == "bars" else 1, "one legend, and the axis of bars")
                self.assertEqual(draw(plot_of(kind, **keys), self.table()), svg, "the same table, the same bytes")
                with self.assertRaisesRegex(ExperimentError, "no column 'nowhere'"):
                    draw(plot_of(kind, **{**keys, "x": "nowhere"}), self.table())

    def test_bands_are_intervals_over_seeds(self):
        """Of two seeds with three values each at an x: the means of the seeds, 2 and 20, are all that counts."""
        rows = [[x, seed, str(int(x) * scale * value)] for x in ("1", "2") for seed, scale in (("0", 1), ("1", 10))
                for value in (1, 2, 3)]
        svg = draw(plot_of("lines"), pd.DataFrame(rows, columns=["x", "seed", "y"], dtype=str))
        self.assertIn("Band: its 95 % bootstrap interval", svg)
        means = pd.DataFrame([["1", "2"], ["1", "20"], ["2", "4"], ["2", "40"]], columns=["x", "y"], dtype=str)
        self.assertEqual(draw(plot_of("lines"), means), svg)

    def test_doublings_are_evenly_spaced_and_named_and_y_begins_at_nothing(self):
        rows = [[str(2**i), str(100 + i)] for i in range(5)]
        svg = draw(plot_of("lines", doublings=True), pd.DataFrame(rows, columns=["x", "y"], dtype=str))
        words = re.findall("<!-- (.*?) -->", svg, re.DOTALL)
        self.assertEqual(words[:6], ["1", "2", "4", "8", "16", "x"])
        self.assertEqual(words[6], "0")
        places = [float(x) for x in re.findall(r'<use xlink:href="#\S+" x="([\d.]+)"', svg)[:5]]
        for before, after, later in zip(places, places[1:], places[2:]):
            self.assertAlmostEqual(later - after, after - before, 3)

    def test_a_heat_map_holds_its_sums(self):
        rows = [["m", "fuse", "2"], ["m", "fold", "1"], ["n", "fold", "5"], ["n", "fold", "1"]]
        table = pd.DataFrame(rows, columns=["model", "rule", "count"], dtype=str)
        svg = draw(plot_of("heat", title="Uses", x="model", y="rule", value="count"), table)
        words = re.findall("<!-- (.*?) -->", svg, re.DOTALL)
        self.assertEqual(words[:7], ["m", "n", "model", "fuse", "fold", "rule", "2"])
        self.assertEqual(words[7:9], ["1", "6"], "row by row, nothing where there is none")

    def test_without_points_are_left_out(self):
        table = pd.DataFrame([["3", ""]], columns=["cpu", "return"], dtype=str)
        spec = spec_of(plot_of("lines", x="cpu", y="return"))
        self.assertEqual(publish(spec, result_of(table), False, self.folder)["plots"], [])
        table.loc[1] = ["4", "0.6"]
        self.assertEqual(len(publish(spec, result_of(table), False, self.folder)["plots"]), 1)


class Report(Case):
    def test_holds_tables_pictures_commands_and_links(self):
        publish(load(self.file, False), self.run_it(), False, self.out)
        page = Page(report_html([self.out, RUN], self.folder / "page.html"))
        self.assertIn("What do they add up to?", page.text)
        self.assertEqual([row[0] for row in page.tables[0]], ["What", "Numbers", "Run run"], "the summary is on top")
        self.assertIn("8 of 8 runs done, 0.0 of 1 CPU-minutes", page.tables[0][1][2])
        self.assertEqual(page.tables[0][1][1], "Interquartile means: 20 (a) to 20 (b)")
        self.assertIn("return/nasrnn: -0.3234 at the end (mean of the last tenth), -0.2445 at best", page.tables[0][2][1])
        self.assertRegex(page.tables[0][2][1], r"[\d.]+ policy steps a second$")
        sums = page.tables[1]
        self.assertEqual([row[:3] for row in sums], [["letter", "n", "iqm"], ["a", "3", "20"], ["b", "3", "20"]])
        self.assertEqual(sums, [list(read_csv(self.out / "sums.csv")), *self.rows(read_csv(self.out / "sums.csv"))])
        self.assertIn("make letter=b seed=3", page.text)
        for link in page.links:
            self.assertTrue(link[1:] in page.ids if link[0] == "#" else (self.folder / link).is_file(), link)
        self.assertLessEqual({"#s1", "#s2", "out/sums.csv", "out/numbers.csv"}, set(page.links))
        for svg in page.svgs():
            xml.fromstring(svg)
        self.assertIn("return (sum of rewards)", "".join(page.svgs()), "curves have units")
        self.assertIn('"updates": 2', page.text)

    def test_all_curves_of_a_run_have_titles_and_units(self):
        for tag in [*read_scalars(RUN / "events"), "controller/entropy", "dreamed/return", "dynamics/held_out_nll"]:
            self.assertTrue([pattern for pattern in CURVES if fnmatch.fnmatchcase(tag, pattern)], tag)
        for pattern, (_, unit) in CURVES.items():
            self.assertFalse(set(";,") & set(unit), f"{pattern}: a plot has one unit")

    def test_says_how_much_of_the_budget_was_used(self):
        for used, borrowed, said in [(1.25, 0, "1.2 of 1 CPU-minutes, over the declared budget"),
                                     (0.5, 40, "0.5 of 1 CPU-minutes, beside 40.0 of steps borrowed"),
                                     (0.5, 0, "0.5 of 1 CPU-minutes")]:
            publish(spec_of(), result_of(pd.DataFrame(), used, borrowed), False, self.folder)
            page = Page(report_html([self.folder], "page.html"))
            self.assertEqual(page.tables[0][1][2], f"0 of 0 runs done, {said}")

    def test_names_what_is_not_done(self):
        self.write(self.replaced("echo run >> {out}/calls;", "test {letter}{seed} != b2 || { echo '<br>'; exit 7; };"))
        publish(load(self.file, False), self.run_it(), False, self.out)
        page = Page(report_html([self.out], "page.html"))
        self.assertIn("6 of 8 runs done", page.tables[0][1][2])
        self.assertIn("Not done: make letter=b seed=2: exit code 7", page.text)
        self.assertIn("<br>", page.text, "text stays text")

    def test_of_another_folder_is_refused(self):
        with self.assertRaisesRegex(ExperimentError, "neither an experiment's nor a run's"):
            report_html([self.folder], "page.html")
        (self.folder / "experiment.json").write_text("{")
        with self.assertRaisesRegex(ExperimentError, "experiment.json: is damaged"):
            report_html([self.folder], "page.html")


class Package(unittest.TestCase):
    def test_is_small(self):
        files = (pathlib.Path(__file__).parents[3] / "launch/experiments").glob("*.py")
        lines = [line.strip() for file in files for line in file.read_text().splitlines()]
        code = sum(line != "" and not line.startswith("#") for line in lines)
        self.assertTrue(300 < code <= 700, f"{code} lines are neither blank nor a comment")


class Files(Case):
    def test_appear_whole_or_not_at_all(self):
        path = self.folder / "x"
        write(path, "one")
        self.assertEqual(path.read_text(), "one")
        os.mkdir(self.folder / "folder")
        with self.assertRaisesRegex(ExperimentError, "missing/x: cannot be written"):
            write(self.folder / "missing/x", "two")
        with self.assertRaisesRegex(ExperimentError, "/dev/full: cannot be written: No space left on device"):
            write("/dev/full", "two")
        self.assertEqual(sorted(os.listdir(self.folder)), ["folder", "numbers.toml", "x"])


@unittest.skipUnless(PROGRAM.exists(), f"{PROGRAM} is not built")
class Commands(Case):
    """From a folder that has nothing to do with the program's."""

    def regraft(self, *arguments, code=0, **keys):
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, text=True, **{
            "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **keys})
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def experiment(self):
        """Of the program itself: it prints its version."""
        (self.folder / "configs/experiments").mkdir(parents=True)
        (self.folder / "configs/experiments/version.toml").write_text(
            'title = "T"\nquestion = "?"\ncpu_minutes = 1\n[matrix]\nn = ["1", "2"]\n[small]\ncpu_minutes = 1\nn = ["1"]\n'
            '[[step]]\nname = "v"\nover = ["n"]\nrun = ["completion", "json"]\n[[rows]]\ntable = "t"\nstep = "v"\n'
            'file = "log.txt"\ncolumns = {text = "=same"}\n'
            '[[summary]]\nname = "s"\ntitle = "S | s"\ntable = "t"\nby = []\nvalue = "n"\n')

    def test_an_experiment_runs_the_program_and_goes_on(self):
        self.experiment()
        self.assertRegex(self.regraft("experiment", "--list").stdout, r"^version +2 runs, +1 CPU-minutes \(small +1, ")
        self.assertEqual(self.regraft("experiment", "version", "--plan").stdout, "regraft completion json\n" * 2)
        done = self.regraft("experiment", "version")
        self.assertRegex(done.stderr, r"^\[1/2\] v n=1: done in [\d.e-]+ s\n\[2/2\]")
        self.assertRegex(done.stdout, r"S \| s\nn +iqm +low +high\n2 +1\.5 +1 +2\n\n")
        self.assertIn("results/experiments/version/t.csv", map(str, (p.relative_to(self.folder) for p in
                                                                     self.folder.rglob("*.csv"))))
        self.assertIn("[2/2] v n=2: done before", self.regraft("experiment", "version").stderr)
        out = self.regraft("report", "results/experiments/version", "-o", "-").stdout
        self.assertIn('href="results/experiments/version/s.csv"', out)
        self.regraft("report", "results/experiments/version")
        self.assertIn('href="results/experiments/version/s.csv"', (self.folder / "report.html").read_text())

    def test_elsewhere_those_of_the_installation_run_by_its_configs(self):
        self.assertRegex(self.regraft("experiment", "--list").stdout, "(?m)^scaling ")
        for name in "scaling", "configs/experiments/scaling.toml":
            planned = self.regraft("experiment", name, "--small", "--plan").stdout.splitlines()
            self.assertTrue(all("--config configs/load-test.toml" in command for command in planned))

    def test_errors_say_what_to_do_and_have_their_exit_codes(self):
        self.experiment()
        self.assertRegex(self.regraft("experiment", "versoin", code=2).stderr,
                         "^regraft: configs/experiments: there is no experiment 'versoin' .did you mean 'version'")
        self.assertIn("--smal", self.regraft("experiment", "version", "--smal", code=2).stderr)
        self.assertIn("NAME or --list", self.regraft("experiment", code=2).stderr)
        self.assertIn("neither an experiment's nor a run's", self.regraft("report", "configs", code=1).stderr)
        self.regraft("report", "nowhere", code=2)
        self.regraft("report", "configs", "-o", "missing/x.html", code=1)
        with open("/dev/full", "w") as full:
            self.assertIn("No space left on device", self.regraft("experiment", "--list", code=1, stdout=full).stderr)
        os.rename(self.folder / "configs/experiments/version.toml", self.folder / "bad.toml")
        self.assertRegex(self.regraft("experiment", "nowhere.toml", code=2).stderr, "no experiment 'nowhere'")
        (self.folder / "bad.toml").write_text("title = 1\n")
        self.assertIn("bad.toml:1: 'title' is not a string", self.regraft("experiment", "bad.toml", code=1).stderr)

    def test_a_failed_run_is_a_failed_experiment(self):
        self.experiment()
        file = self.folder / "configs/experiments/version.toml"
        file.write_text(file.read_text().replace('"json"]', '"jsn"]'))
        done = self.regraft("experiment", "version", code=1)
        self.assertIn("[1/2] v n=1: exit code 2; results/experiments/version/runs/v/n=1/log.txt ends:", done.stderr)

    def test_what_python_lacks_is_named(self):
        self.experiment()
        for name, said in [("/nowhere/python3", "Python cannot be started: No such file"), ("bare", "pip install pandas")]:
            environment = {**os.environ, "REGRAFT_PYTHON": name}
            if name == "bare":
                bare = self.folder / "bare"
                bare.write_text('#!/bin/sh\nshift\nexec /usr/bin/python3 -S -B "$@"\n')  # without installed packages
                bare.chmod(0o755)
                environment["REGRAFT_PYTHON"] = str(bare)
            self.assertIn(said, self.regraft("experiment", "--list", code=1, env=environment).stderr)


if __name__ == "__main__":
    unittest.main()
