"""What is run, what is done before, and what is left for the next call."""

import json
import lzma
import os
import signal
import subprocess
import sys
import unittest

from support import NUMBERS, SOURCE, Case

from launch.experiments.description import load
from launch.experiments.files import ExperimentError
from launch.experiments.runs import Stop, run_experiment
from launch.experiments.tables import read_csv, to_csv


class Runs(Case):
    def test_every_combination_runs_and_its_rows_carry_its_values(self):
        result = self.run_it()
        self.assertTrue(result.complete)
        self.assertEqual(len(result.runs), 8)
        table = read_csv(self.out / "numbers.csv")
        self.assertEqual(list(table), ["letter", "seed", "n", "last", "mean", "files"])
        rows = self.rows(table)
        self.assertEqual(len(rows), 8)
        self.assertEqual(rows[1], ["a", "2", "20", "2", "1.5", ""])
        self.assertEqual(rows[6], ["a", "", "", "", "", "3"])

    def test_what_is_done_is_not_done_again_unless_its_command_changed(self):
        self.run_it()
        self.assertEqual(self.reused(self.run_it()), [True] * 8)
        self.assertEqual((self.out / "runs/make/letter=a,seed=1/calls").read_text(), "run\n")
        self.write(self.replaced('factor = "10"', 'factor = "20"'))
        changed = self.run_it()
        self.assertFalse(changed.runs[0]["reused"])
        self.assertEqual(self.rows(changed.tables["numbers"])[0][2], "20")

    def test_what_is_done_is_done_again_when_its_config_file_changed(self):
        config = self.folder / "preset.toml"
        config.write_text("rate = 1")
        self.write(self.replaced("[[rows]]", '[[step]]\nname = "with"\nrun = ["-c", "true", "sh", "--config", '
                                 f'"{config}"]\n[[rows]]'))
        self.run_it()
        self.assertTrue(self.reused(self.run_it())[-1])
        config.write_text("rate = 2")
        self.assertEqual(self.reused(self.run_it()), [True] * 8 + [False])

    def test_what_is_done_is_done_again_when_a_rule_changed(self):
        rules = self.folder / "here/configs/rules"
        rules.mkdir(parents=True)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder / "here")
        (rules / "a.rules").write_text("one")
        self.run_it()
        self.assertEqual(self.reused(self.run_it()), [True] * 8)
        (rules / "a.rules").write_text("another")
        self.assertEqual(self.reused(self.run_it()), [False] * 8)

    def test_what_reads_from_a_run_that_is_done_again_is_done_again(self):
        self.run_it()
        (self.out / "runs/make/letter=a,seed=1/done.json").unlink()
        self.assertEqual(self.reused(self.run_it()), [False] + [True] * 5 + [False, True])  # counts files of letter a

    def test_a_damaged_record_is_none(self):
        self.run_it()
        (self.out / "runs/count/letter=b/done.json").write_text('{"arguments": [')
        self.assertEqual(self.reused(self.run_it()), [True] * 7 + [False])

    def test_an_interrupted_run_is_resumed_by_its_resume_arguments(self):
        self.write(self.replaced("[[rows]]", r'''[[step]]
name = "long"
run = ["-c", "echo \"$@\" >> {out}/calls; test \"$1\" = again", "sh"]
resume = ["again"]
[[rows]]'''))
        first = self.run_it()
        self.assertFalse(first.complete)
        again = self.run_it()
        self.assertTrue(again.complete)
        self.assertEqual((self.out / "runs/long/once/calls").read_text(), "\nagain\n")
        self.assertGreater(again.runs[-1]["seconds"], first.runs[-1]["seconds"], "of both attempts")

    def test_a_run_that_ended_before_it_left_anything_begins_anew(self):
        self.write(self.replaced("[[rows]]", f'''[[step]]
name = "long"
run = ["-c", "echo $#; test -e {self.folder / 'ready'}", "sh"]
resume = ["again"]
[[rows]]'''))
        self.assertFalse(self.run_it().complete)
        (self.folder / "ready").touch()
        self.assertTrue(self.run_it().complete)
        self.assertEqual((self.out / "runs/long/once/log.txt").read_text(), "0\n", "there was nothing to resume")

    def test_a_failed_run_is_named_with_the_end_of_its_log_and_the_others_go_on(self):
        self.write(self.replaced("echo run >> {out}/calls;",
                                 "test {letter}{seed} != b2 || { echo broken >&2; exit 7; }; test {letter}{seed} != a3 "
                                 "|| kill -9 $$;"))
        result = self.run_it()
        self.assertFalse(result.complete)
        self.assertEqual(result.runs[7]["failure"], "not run: needs make letter=b seed=2")
        self.assertRegex(result.runs[4]["failure"], r"exit code 7; .*log\.txt ends:\nbroken$")
        self.assertIn("killed by signal 9 (Killed)", result.runs[2]["failure"])
        self.assertEqual(result.runs[5]["failure"], "")
        self.assertEqual(len(result.tables["numbers"]), 4)

    def test_a_stop_leaves_the_rest_for_the_next_call(self):
        stop, lines = Stop(), []

        def report(line):
            lines.append(line)
            if len(lines) == 2:
                stop.request()

        result = self.run_it(report=report, stop=stop)
        signal.alarm(0)
        self.assertEqual(result.runs[2]["failure"], "not run")
        self.assertEqual(lines[2], "[3/8] make letter=a seed=3: not run")
        self.assertTrue(self.run_it().complete)

    def test_a_signal_ends_the_running_command_and_the_next_call_resumes_it(self):
        self.write(self.replaced("[[rows]]", r'''[[step]]
name = "long"
run = ["-c", "trap 'echo saved >> {out}/calls; exit 3' TERM; echo \"$1\" >> {out}/calls; test \"$1\" = again || { echo > {out}/../../../begun; while :; do sleep 0.01; done; }", "sh"]
resume = ["again"]
[[rows]]'''))
        call = json.dumps({"command": "experiment", "name": str(self.file), "out": str(self.out), "small": False,
                           "plan": False, "list": False, "program": "/bin/sh"})
        os.mkdir(self.out)
        os.mkfifo(self.out / "begun")  # opening it waits for the command
        process = subprocess.Popen([sys.executable, "-B", "-m", "launch.experiments", call],
                                   env={**os.environ, "PYTHONPATH": str(SOURCE)},
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        (self.out / "begun").read_text()
        process.send_signal(signal.SIGUSR1)  # changes nothing
        process.send_signal(signal.SIGTERM)
        self.assertIn("long: stopped", process.communicate()[1])
        self.assertEqual(process.returncode, 1)
        self.assertEqual((self.out / "runs/long/once/calls").read_text(), "\nsaved\n")
        (self.out / "begun").unlink()
        self.assertTrue(self.run_it().complete)
        self.assertEqual((self.out / "runs/long/once/calls").read_text(), "\nsaved\nagain\n")

    def test_the_small_form_replaces_values(self):
        result = self.run_it(small=True)
        self.assertEqual(len(result.runs), 4)
        self.assertEqual(self.rows(result.tables["numbers"])[0][2], "2")

    def test_a_program_that_is_missing_is_named(self):
        with self.assertRaises(OSError) as caught:
            run_experiment(load(self.file, False), "/nowhere/regraft", self.out, print, Stop())
        self.assertEqual(caught.exception.filename, "/nowhere/regraft")

    def test_models_are_unpacked_once(self):
        model = self.folder / "models/unpacked/m.onnx"
        self.write('unpack = ["' + str(model) + '"]\n' + NUMBERS)
        with self.assertRaisesRegex(ExperimentError, "m.onnx.xz: cannot be unpacked"):
            self.run_it()
        self.assertFalse((self.folder / "models").exists())
        (self.folder / "models").mkdir()
        (self.folder / "models/m.onnx.xz").write_bytes(lzma.compress(b"graph"))
        self.run_it()
        self.assertEqual(model.read_bytes(), b"graph")


class Shared(Case):
    text = NUMBERS.replace('name = "make"\n', 'name = "make"\nshared = true\n', 1)

    def test_experiments_share_runs_of_one_command(self):
        first = self.run_it()
        self.out = self.folder / "other"
        second = self.run_it()
        self.assertEqual(self.reused(second), [True] * 6 + [False, False])
        self.assertEqual(to_csv(second.tables["numbers"]), to_csv(first.tables["numbers"]))
        self.write(self.replaced('factor = "10"', 'factor = "30"'))
        self.assertFalse(self.run_it().runs[0]["reused"])

    def test_a_folder_is_made_for_an_experiment_all_of_whose_runs_are_shared_and_done(self):
        self.write(self.replaced('name = "count"\n', 'name = "count"\nshared = true\n'))
        self.run_it()
        self.out = self.folder / "other"
        self.assertEqual(self.reused(self.run_it()), [True] * 8)
        self.assertTrue((self.out / "numbers.csv").exists())

    def test_their_folders_are_named_by_their_commands_alone(self):
        self.run_it()
        names = {path.name for path in (self.folder / "shared").iterdir() if path.is_dir()}
        self.assertEqual(len(names), 3, "the command has the seed in it, not the letter")
        for name in names:
            self.assertRegex(name, "^make-[0-9a-f]{16}$")


if __name__ == "__main__":
    unittest.main()
