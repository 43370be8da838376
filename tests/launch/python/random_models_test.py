"""Random models through searches, held against an oracle outside of the program (model_oracle.py).

REGRAFT_MODELS (24) models from REGRAFT_MODEL_SEED (1) on, each by REGRAFT_MODEL_SEARCHES (1) of all searches, in turn.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import onnx

    import model_oracle  # with onnxruntime
except ImportError as error:
    print(f"skipped: {error}: launch/setup.sh fetches it")
    sys.exit(77)

from random_models import random_model

PROGRAM = os.environ.get("REGRAFT_PROGRAM", pathlib.Path(os.environ["REGRAFT_BUILD"], "regraft"))
MODELS = int(os.environ.get("REGRAFT_MODELS", 24))
FIRST = int(os.environ.get("REGRAFT_MODEL_SEED", 1))
EACH = int(os.environ.get("REGRAFT_MODEL_SEARCHES", 1))
STRICT = 5  # every so many models are searched without marked rules
FAULT = "please report this"  # in a reason for which the input comes back


def search_names():
    """The searches of `optimise`, by the program's own account."""
    program = json.loads(subprocess.run([PROGRAM, "completion", "json"], capture_output=True, check=True).stdout)
    options = next(each for each in program["commands"] if "optimise" in each["names"])["options"]
    names = next(each for each in options if "--search" in each["names"])["choices"]
    return [name for name in names if name != "none"]


def crashes(data, seed):
    """Whether the oracle's runtime itself dies of the model."""
    child = os.fork()
    if child == 0:
        try:
            model_oracle.Oracle(data, seed)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


class RandomModels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def optimise(self, data, search, strict, seed):
        """The output's bytes, the report, and what the program said."""
        files = [self.folder / name for name in ("in.onnx", "out.onnx", "report.json")]
        files[0].write_bytes(data)
        command = [PROGRAM, "optimise", files[0], "-o", files[1], "--json", files[2], "--search", search, "--accept",
                   "cost", "--quiet", "--budget", "1", "--seed", str(seed)] + ["--strict"] * strict
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
        if done.returncode != 0:
            return None, {}, f"exit code {done.returncode}: {done.stderr.strip()}"
        return files[1].read_bytes(), json.loads(files[2].read_text()), done.stderr

    def complaints(self, oracle, data, search, strict, seed, counts):
        output, report, said = self.optimise(data, search, strict, seed)
        if output is None:
            return [said]
        counts["refused"].update(f"{each['rule']} (seed {seed}, {search})" for each in report["refused_rules"])
        if not report["accepted"]:
            counts["kept"][report["reason"]] += 1
            wrong = [report["reason"]] if FAULT in report["reason"] else []
            return wrong + ([] if output == data else ["what comes back differs from the input"])
        if oracle is None:
            return ["it is rewritten, though the runtime dies of it"]
        counts["rewritten"][search] += 1
        counts["rules"].update(report["rules"].keys())
        return oracle.complaints(output, report["marks"])

    def test_keep_what_they_compute(self):
        counts = {name: collections.Counter() for name in ("runs", "rewritten", "kept", "refused", "given up", "rules")}
        searches = search_names()
        wrong = []
        print()  # ends the line that names the test
        for seed in range(FIRST, FIRST + MODELS):
            data = random_model(seed).SerializeToString()
            oracle = None if crashes(data, seed) else model_oracle.Oracle(data, seed)
            for search in [searches[(seed + turn) % len(searches)] for turn in range(EACH)]:
                counts["runs"][search] += 1
                strict = seed // len(searches) % STRICT == 0
                for line in self.complaints(oracle, data, search, strict, seed, counts):
                    wrong.append(f"seed {seed}, {search}{', strict' if strict else ''}: {line}")
                    print(wrong[-1], flush=True)
            counts["given up"].update(oracle.given_up if oracle else ["the runtime dies"])
        for name, counter in counts.items():
            listed = ", ".join(f"{value} x {key}" for key, value in counter.most_common())
            print(f"note: {name}: {len(counter)} kinds, {sum(counter.values())} in all: {listed}")
        self.assertEqual(wrong, [])
        self.assertGreater(sum(counts["rewritten"].values()), MODELS * EACH / 4, "few are rewritten: this says little")

    def test_are_the_same_for_a_seed(self):
        self.assertEqual(random_model(3).SerializeToString(), random_model(3).SerializeToString())

    @staticmethod
    def model(body, dim="N"):
        head = f'<ir_version: 8, opset_import: ["": 17]> g (float[{dim}, 4] x) => (float[{dim}, 4] y)'
        return onnx.parser.parse_model(f"{head} {{ {body} }}").SerializeToString()

    def test_oracle_sees_what_is_wrong(self):
        right = self.model("h = Relu(x) y = Neg(h)")
        oracle = model_oracle.Oracle(right, 1)
        self.assertEqual(oracle.complaints(right, {}), [])
        wrong = self.model("c = Constant<value_float: float = -1.001>() h = Relu(x) y = Mul(h, c)")
        self.assertIn("relative error 0.001", oracle.complaints(wrong, {})[0])
        self.assertIn("not taken", oracle.complaints(self.model("h = Relu(x) y = Neg(z)"), {})[0])
        self.assertIn("other inputs", oracle.complaints(self.model("h = Relu(x) y = Neg(h)", "M"), {})[0])

    def test_oracle_asks_for_the_same_nan_but_of_rules_for_finite_numbers(self):
        oracle = model_oracle.Oracle(self.model("h = Relu(x) y = Div(h, h)"), 1)
        step = self.model("h = Relu(x) y = Sign(h)")
        self.assertIn("nan became 0.0", oracle.complaints(step, {})[0])
        self.assertEqual(oracle.complaints(step, {"finite": ["r"]}), [])
        self.assertGreater(oracle.given_up["finite"], 0)


if __name__ == "__main__":
    unittest.main()
