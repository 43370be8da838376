"""What a description may say, and what is said of one that is wrong."""

import unittest

from support import SOURCE, Case

from launch.experiments.description import load
from launch.experiments.files import ExperimentError
from launch.experiments.plan import plan_runs

CONFIGS = SOURCE / "configs/experiments"

LENDER = r'''
title = "Lender"
question = "?"
cpu_minutes = 4
[matrix]
letter = ["a", "b"]
[values]
size = "10"
[small]
cpu_minutes = 1
letter = ["a"]
size = "2"
[[step]]
name = "make"
over = ["letter"]
run = ["-c", "echo '[{\"kind\": \"x\", \"n\": {size}}, {\"kind\": \"y\", \"n\": 5}, {\"kind\": \"z\", \"n\": 7}]' > {out}/x.json"]
shared = true
[[step]]
name = "own"
run = ["-c", "true"]
'''
BORROWER = '''
title = "Borrower"
question = "?"
cpu_minutes = 1
[from]
experiment = "lender"
steps = ["make"]
[small]
cpu_minutes = 1
[[step]]
name = "again"
over = ["letter"]
only = {letter = ["b"]}
run = ["-c", "cp {make}/x.json {out}/x.json"]
[[rows]]
table = "t"
step = ["make", "again"]
file = "x.json"
where = {"/kind" = ["x", "z"]}
columns = {kind = "/kind", n = "/n", note = "=as it is"}
[[summary]]
name = "s"
title = "S"
table = "t"
by = ["letter"]
value = ["n", "kind"]
[[gap]]
name = "g"
title = "G"
table = "t"
by = "letter"
method = "kind"
value = "n"
of = ["x"]
'''


class Wrong(Case):
    def test_keys_and_values_are_refused_with_their_line(self):
        for before, after, *said in [
            ("question =", "qestion =", ":3: unknown key 'qestion'", "did you mean 'question'?"),
            ('question = "What do they add up to?"', "", "'question' is missing"),
            ('factor = "10"', "factor = 10", ":9: 'factor' has no values, another form"),
            ('name = "make"\n', 'name = "make"\nshared = 1\n', ":16: 'shared' is neither true nor false"),
            ('over = ["letter"]\n', 'over = "letter"\n', "'over' is not a list of strings", ":20:"),
            ("cpu_minutes = 1\n", 'cpu_minutes = "1"\n', ":4: 'cpu_minutes' is not a number"),
            ("[matrix]", "[matrix", "is no TOML", "at line 5"),
            ('kind = "bars"', 'kind = "pie"', ":34: 'kind' is no kind of plot (choose one of lines, bars, heat, scatter)"),
            ('run = ["-c", "ls', 'run = []\nx = ["-c", "ls', "unknown key 'x'"),
            ('step = "count"', 'step = []', "'step' is neither a string nor a list of them, or is empty"),
        ]:
            with self.subTest(after):
                for part in ["numbers.toml", *said]:
                    self.assertIn(part, self.load_error(before, after))

    def test_names_that_mean_nothing_are_refused(self):
        for before, after, said in [
            ("{all:make}", "{all:mak}", "names 'mak'"),
            ("{all:make}", "{make}", "means 3 runs"),
            ("{all:make}", "{all:make", "has no closing brace"),
            ('over = ["letter"]', 'over = ["lettr"]', "'lettr', which is not in [matrix] (did you mean 'letter'?)"),
            ('table = "numbers"\nx', 'table = "figures"\nx', "which no [[rows]] fills"),
            ('y = "n"', 'y = "m"', "column 'm' of table 'numbers'"),
            ('value = "n"', 'value = "m"', "summary 'sums' reads column 'm'"),
            ('name = "sums"', 'name = "numbers"', "would overwrite the table"),
            ('name = "count"', 'name = "make"', "two steps 'make'"),
        ]:
            with self.subTest(after):
                self.assertIn(said, self.load_error(before, after))

    def test_a_small_form_replaces_only_what_there_is(self):
        self.write(self.replaced('[small]\ncpu_minutes = 0.5\nseed', '[small]\ncpu_minutes = 0.5\nsead'))
        with self.assertRaisesRegex(ExperimentError, "toml:12: 'sead' is neither in .matrix. nor .* mean 'seed'"):
            load(self.file, True)


class Borrowing(Case):
    text = BORROWER

    def setUp(self):
        super().setUp()
        self.file = self.folder / "borrower.toml"
        self.write(LENDER, "lender")
        self.write(BORROWER)

    def write(self, text, name="borrower"):
        super().write(text, name)

    def run_of(self, name):
        self.out = self.folder / "out" / name
        return self.run_it(file=self.folder / f"{name}.toml")

    def test_rows_of_several_steps_and_kinds_are_one_table(self):
        table = self.run_of("borrower").tables["t"]
        self.assertEqual(list(table), ["letter", "kind", "n", "note"])
        rows = self.rows(table)
        self.assertEqual(len(rows), 6)
        self.assertEqual([rows[i] for i in (0, 1, 5)],
                         [["a", "x", "10", "as it is"], ["a", "z", "7", "as it is"], ["b", "z", "7", "as it is"]])

    def test_a_kind_that_no_run_of_the_steps_has_is_named(self):
        self.write(self.replaced('["x", "z"]', '["x", "zz"]'))
        with self.assertRaisesRegex(ExperimentError, "x.json: table 't' wants items with '/kind' = .'zz'"):
            self.run_of("borrower")
        self.write(self.replaced("cp {make}/x.json {out}/x.json",
                                 r"echo '[{\"kind\": \"w\", \"n\": 1}]' > {out}/x.json", '["x", "z"]', '["x", "w"]'))
        self.assertEqual(len(self.run_of("borrower").tables["t"]), 3, "one kind in the runs of each step")

    def test_a_step_may_be_of_some_values_only(self):
        plan = plan_runs(load(self.file, False), "out/borrower")
        self.assertEqual([run.label for run in plan], ["make letter=a", "make letter=b", "again letter=b"])
        self.assertEqual(plan[2].inputs, [1])
        self.assertEqual(len(plan_runs(load(self.file, True), "out")), 1, "the small form has no b")

    def test_borrowed_steps_are_the_lenders_runs_and_within_its_budget(self):
        self.assertEqual(load(self.file, True).values["size"], "2")
        lent, borrowed = self.run_of("lender"), self.run_of("borrower")
        self.assertEqual(self.reused(borrowed), [True, True, False])
        self.assertEqual(borrowed.borrowed_cpu_minutes, sum(run["cpu_minutes"] for run in lent.runs[:2]))
        self.assertEqual(borrowed.cpu_minutes, borrowed.runs[2]["cpu_minutes"])
        self.assertEqual(lent.borrowed_cpu_minutes, 0)

    def test_what_means_nothing_is_refused(self):
        for before, after, said in [
            ('experiment = "lender"', 'experiment = "lander"', "no experiment 'lander'"),
            ('steps = ["make"]', 'steps = ["mke"]', "no step 'mke'"),
            ('steps = ["make"]', 'steps = ["make", "own"]', "is not shared"),
            ('name = "again"', 'name = "make"', "two steps 'make'"),
            ("only = {letter", "only = {lettr", "does not go over"),
            ('only = {letter = ["b"]}', 'only = {letter = ["b", "c"]}', "wants only 'c' of 'letter'"),
            ('step = ["make", "again"]', 'step = ["make", "agin"]', "no step 'agin'"),
            ('value = ["n", "kind"]', 'value = ["n", "knd"]', "column 'knd'"),
            ('table = "t"\nby = "letter"', 'table = "u"\nby = "letter"', "gap 'g' reads table 'u'"),
            ('by = "letter"\n', 'by = "letter"\nagainst = ["v"]\n', "'v'"),
            ('name = "g"', 'name = "t"', "would overwrite"),
            ('name = "g"', 'name = "g"\nunless = "x"', "unless"),
        ]:
            with self.subTest(after):
                self.assertIn(said, self.load_error(before, after))

    def test_the_small_form_is_refused_for_a_choice_that_the_full_one_lacks(self):
        self.write(self.replaced('only = {letter = ["b"]}', 'only = {letter = ["c"]}'))
        with self.assertRaises(ExperimentError):
            load(self.file, True)

    def test_borrowing_in_a_circle_is_refused(self):
        self.assertIn("leads back to 'borrower'", self.load_error('experiment = "lender"', 'experiment = "borrower"'))
        self.write(BORROWER)
        self.write(self.replaced("[matrix]", '[from]\nexperiment = "borrower"\nsteps = ["again"]\n[matrix]', text=LENDER),
                   "lender")
        for small in (False, True):
            with self.assertRaisesRegex(ExperimentError, r"lender\.toml:\d+: .*leads back to 'borrower'"):
                load(self.file, small)


class Shipped(unittest.TestCase):
    def test_all_load_in_both_forms_and_fit_into_twelve_hours(self):
        files = sorted(CONFIGS.glob("*.toml"))
        self.assertGreaterEqual(len(files), 14)
        minutes = 0
        for file in files:
            full, small = load(file, False), load(file, True)
            minutes += full.cpu_minutes
            self.assertLessEqual(small.cpu_minutes, 20, file)
            for spec in full, small:
                self.assertGreater(spec.cpu_minutes, 0, file)
                self.assertTrue(plan_runs(spec, "out"), file)
        self.assertLessEqual(minutes, 12 * 60, "steps that an experiment borrows are within their own one's budget")

    def test_every_axis_says_what_it_shows(self):
        for file in CONFIGS.glob("*.toml"):
            for plot in load(file, False).plots:
                for axis in ("x", "y"):
                    label = getattr(plot, f"{axis}_label") or getattr(plot, axis)
                    self.assertNotIn("_", label, f"{file.name}, plot {plot.name}: give {axis}_label")

    def test_search_headroom_knows_scripts_and_compares_with_all_that_is_known(self):
        for small, models in (False, 8), (True, 4):
            spec = load(CONFIGS / "search-headroom.toml", small)
            (gap,) = spec.gaps
            self.assertEqual(gap.against, ["returns_long", "scripts"])
            self.assertLessEqual({"greedy", "taso", "all_sites_descent"}, set(gap.of))
            plan = plan_runs(spec, "out")
            self.assertEqual(len(plan), models * (4 + 1 + 1), "four searches, the longer ones, scripts")
            self.assertEqual(sum("--scripts" in run.arguments for run in plan), models)


if __name__ == "__main__":
    unittest.main()
