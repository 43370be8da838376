"""Generated models, as `regraft corpus` writes them, held against ONNX's full check and ONNX Runtime.

REGRAFT_CORPUS_SEEDS (5) seeds of each family, from 0 on: one of each exporter's dialect.
"""

import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import numpy as np
    import onnx
    import onnxruntime

    from model_oracle import session
except ImportError as error:
    print(f"skipped: {error}: launch/setup.sh fetches it")
    sys.exit(77)

PROGRAM = os.environ.get("REGRAFT_PROGRAM", pathlib.Path(os.environ["REGRAFT_BUILD"], "regraft"))
SEEDS = int(os.environ.get("REGRAFT_CORPUS_SEEDS", 5))
RUNS = 5


def corpus(*arguments):
    return subprocess.run([PROGRAM, "corpus", *arguments], check=True, capture_output=True, text=True).stdout.splitlines()


def feed(runner, numbers):
    """Numbers around 0; indices below 2, which all tables have."""
    return {each.name: numbers.standard_normal(each.shape).astype(np.float32) if each.type == "tensor(float)"
            else numbers.integers(0, 2, each.shape) for each in runner.get_inputs()}


def best_ms(runner, inputs):
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        runner.run(None, inputs)
        times.append(time.process_time() - start)
    return 1e3 * min(times)


class Corpus(unittest.TestCase):
    def test_models_are_checked_and_run_with_finite_outputs(self):
        numbers = np.random.default_rng(1)
        figures = collections.defaultdict(list)
        families = [line.split()[0] for line in corpus()]
        self.assertGreaterEqual(len(families), 12)
        print()  # ends the line that names the test
        for family in families:
            with tempfile.TemporaryDirectory() as folder:
                for path in corpus(f"corpus:{family}:0-{SEEDS - 1}", "-o", folder):
                    with self.subTest(path=path):
                        onnx.checker.check_model(path, full_check=True)
                        runner = session(path, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL)
                        inputs = feed(runner, numbers)
                        for output, value in zip(runner.get_outputs(), runner.run(None, inputs)):
                            self.assertEqual(list(value.shape), output.shape, output.name)
                            self.assertTrue(np.isfinite(value).all(), output.name)
                            self.assertGreater(np.ptp(value), 0, f"{output.name} is the same everywhere")
                        nodes = len(onnx.load(path).graph.node)
                        figures[family].append((nodes, os.path.getsize(path) / 1e6, best_ms(runner, inputs)))
            rows = list(zip(*figures[family]))
            print(f"note: {family}: {len(rows[0])} models; " + ", ".join(
                f"{min(row):.3g} to {max(row):.3g} {unit}" for row, unit in zip(rows, ("nodes", "MB", "ms"))), flush=True)


if __name__ == "__main__":
    unittest.main()
