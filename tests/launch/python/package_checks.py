"""The package `regraft` as a user has it; wheel_test.py runs this where it has installed the wheel."""

import ast
import concurrent.futures
import inspect
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
import regraft
from onnx import TensorProto, helper

FAST = {"search": "greedy", "accept": "cost"}  # nothing is measured
PACKAGE = pathlib.Path(regraft.__file__).parent


def model(relus=3):
    """Of many Relus one does the work."""
    names = ["x", *(f"h{i}" for i in range(1, relus)), "y"]
    nodes = [helper.make_node("Relu", [before], [after]) for before, after in zip(names, names[1:])]
    shape = ["batch", 64]
    graph = helper.make_graph(nodes, "relus", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def ops(made):
    """Of a model of any kind, which ONNX's full check takes."""
    if not isinstance(made, onnx.ModelProto):
        made = onnx.load_from_string(made) if isinstance(made, bytes) else onnx.load(made)
    onnx.checker.check_model(made, full_check=True)
    return [node.op_type for node in made.graph.node]


def negated(proto):
    changed = onnx.ModelProto()
    changed.CopyFrom(proto)
    changed.graph.node[0].op_type = "Neg"
    return changed


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name="model.onnx", proto=None):
        path = self.folder / name
        onnx.save(proto or model(), path)
        return path


class Optimise(Case):
    def test_gives_back_the_kind_that_it_was_given(self):
        path = self.file()
        for given in path, str(path), path.read_bytes(), model():
            made, report = regraft.optimise(given, bind={"batch": 4}, **FAST)
            self.assertIs(type(made), type(given) if not isinstance(given, pathlib.Path) else pathlib.PosixPath)
            self.assertTrue(report["accepted"], report["reason"])
            self.assertEqual(ops(made), ["Relu"])

    def test_writes_where_it_is_told_and_else_beside_the_model(self):
        path = self.file("-m.onnx")
        made, _ = regraft.optimise(path, output=self.folder / "out.onnx", **FAST)
        self.assertEqual(made, self.folder / "out.onnx")
        made, _ = regraft.optimize(path, **FAST)
        self.assertEqual(made, self.folder / "-m-optimised.onnx")
        names = sorted(each.name for each in self.folder.iterdir())
        self.assertEqual(names, ["-m-optimised.onnx", "-m.onnx", "out.onnx"])
        with self.assertRaises(regraft.UsageError):
            regraft.optimise(path.read_bytes(), output=self.folder / "other.onnx")

    def test_settings_of_a_model_in_memory_are_in_the_report(self):
        made, report = regraft.optimise(model(), settings=True, search="greedy", threads=1, trial_budget=0,
                                        measure_budget=1, bind={"batch": 4})
        self.assertEqual(ops(made)[-1], "Relu")
        self.assertEqual(report["settings"]["output"], {"intra_op_num_threads": "1"})
        self.assertEqual(report["threads"], 1)

    def test_runs_in_many_threads_at_once(self):
        with concurrent.futures.ThreadPoolExecutor(3) as threads:
            results = list(threads.map(lambda relus: regraft.optimise(model(relus), **FAST), (2, 3, 4)))
        self.assertEqual([report["nodes_before"] for _, report in results], [2, 3, 4])
        self.assertEqual([ops(made) for made, _ in results], [["Relu"]] * 3)

    def test_reports_have_the_types_that_are_promised(self):
        path = self.file()
        reports = {"OptimiseReport": regraft.optimise(path, **FAST)[1], "VerifyReport": regraft.verify(path, path),
                   "ProfileReport": regraft.profile(path, budget=0.1)}
        stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
        promised = {each.name: {line.target.id: ast.unparse(line.annotation) for line in each.body}
                    for each in stub.body if isinstance(each, ast.ClassDef) and each.name in reports}
        kinds = {"bool": bool, "int": int, "float": (int, float), "str": str, "List[Any]": list, "Dict[str, Any]": dict,
                 "Optional[float]": (int, float, type(None))}
        for name, report in reports.items():
            self.assertEqual(set(report), set(promised[name]), name)
            for key, value in report.items():
                self.assertIsInstance(value, kinds[promised[name][key]], f"{name}.{key}")


class Verify(Case):
    def test_tells_models_apart(self):
        report = regraft.verify(model(2), model(4).SerializeToString())
        self.assertTrue(report["equivalent"])
        with self.assertRaises(regraft.NotEquivalent) as caught:
            regraft.verify(self.file(), negated(model()))
        self.assertFalse(caught.exception.report["equivalent"])
        self.assertEqual(caught.exception.what, caught.exception.report["reason"])

    def test_compares_on_arrays(self):
        report = regraft.verify(model(2), model(3), inputs={"x": np.ones((2, 64), np.float32)})
        self.assertTrue(report["equivalent"])
        with self.assertRaises(regraft.Error) as caught:
            regraft.verify(model(2), model(3), inputs={"z": np.ones((2, 64), np.float32)})
        self.assertIn("no input 'z'", str(caught.exception))


class Options(Case):
    def test_are_those_of_the_command_line(self):
        for function in regraft.optimise, regraft.verify, regraft.profile:
            command = [PACKAGE / "bin/regraft", function.__name__, "--help"]
            text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            names = set(re.findall(r"^  (?:-\w,)?--([a-z][a-z-]*)", text, re.MULTILINE)) - {"help", "json"}
            parameters = inspect.signature(function).parameters.values()
            keywords = {each.name for each in parameters if each.kind == each.KEYWORD_ONLY}
            self.assertEqual(keywords, {name.replace("-", "_") for name in names}, function.__name__)
            for name in keywords:
                self.assertIn(name, function.__doc__)

    def test_unknown_ones_are_errors_with_the_nearest_name(self):
        with self.assertRaisesRegex(regraft.UsageError, "did you mean 'budget'"):
            regraft.optimise(model(), buget=3)
        with self.assertRaises(regraft.UsageError):
            regraft.profile(model(), json="x")

    def test_wrong_values_are_errors(self):
        for wrong in {"search": "greedi"}, {"budget": -1}, {"quiet": 3}, {"budget": [1, 2]}, {"bind": {"batch": "x"}}:
            with self.assertRaises(regraft.UsageError, msg=str(wrong)) as caught:
                regraft.optimise(model(), **wrong)
            self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaisesRegex(regraft.UsageError, "did you mean 'greedy'"):
            regraft.optimise(model(), search="greedi")
        with self.assertRaises(regraft.UsageError):
            regraft.optimise(3)

    def test_many_values_reach_the_program(self):
        given = {"bind": {"n": [1, 64], "seq": 8}, "seed": None, "quiet": True}
        self.assertEqual(regraft._options.arguments("optimise", given), ["--bind=n=1,64", "--bind=seq=8", "--quiet"])


class Errors(Case):
    def test_say_what_where_and_what_to_do(self):
        with self.assertRaises(regraft.Error) as caught:
            regraft.optimise(self.folder / "missing.onnx", **FAST)
        self.assertNotIsInstance(caught.exception, (regraft.UsageError, regraft.NotEquivalent))
        self.assertIn("missing.onnx", caught.exception.where)
        self.assertTrue(caught.exception.what)
        self.assertEqual(list(self.folder.iterdir()), [])
        with self.assertRaises(regraft.Error):
            regraft.optimise(b"no model", **FAST)

    def test_survive_the_way_to_another_process(self):
        import pickle
        error = pickle.loads(pickle.dumps(regraft.UsageError("a", "b", "c")))
        self.assertEqual((error.what, error.where, error.remedy, str(error)), ("a", "b", "c", "b: a (c)"))

    def test_an_interrupt_ends_the_program_and_leaves_nothing(self):
        script = ("import regraft, sys\n"
                  "try: regraft.optimise(open(sys.argv[1], 'rb').read(), quiet=False, search='random', budget=600)\n"
                  "except KeyboardInterrupt: print('interrupted')")
        scratch = self.folder / "scratch"
        scratch.mkdir()
        process = subprocess.Popen([sys.executable, "-c", script, self.file()], text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(scratch)})
        self.assertIn("import", process.stderr.readline())  # the program is at work
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate()
        self.assertEqual((said, process.returncode), ("interrupted\n", 0), errors)
        self.assertEqual(list(scratch.iterdir()), [])
        self.assertEqual(sorted(self.folder.iterdir()), [self.folder / "model.onnx", scratch])
        self.assertEqual([pid for pid in os.listdir("/proc") if pid.isdigit() and self.works_here(pid)], [])

    def works_here(self, pid):
        try:
            return str(self.folder).encode() in pathlib.Path("/proc", pid, "cmdline").read_bytes()
        except OSError:
            return False  # ended meanwhile


if __name__ == "__main__":
    unittest.main()
