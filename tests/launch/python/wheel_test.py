"""The wheel, installed into an environment of its own: the command `regraft`, and the package (package_checks.py).

The libraries of torch and onnxruntime are those of launch/setup.sh's cache, laid out as pip does.
"""

import lzma
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD, CACHE = pathlib.Path(os.environ["REGRAFT_BUILD"]), pathlib.Path(os.environ["REGRAFT_CACHE"])
MOST_BYTES = 40_000_000
MACHINE = {"libc", "libm", "libdl", "librt", "libpthread", "libresolv", "libutil", "libstdc++", "libgcc_s"}


def version(name):
    return re.search(f"^{name}_VERSION=(.*)$", (ROOT / "launch/setup.sh").read_text(), re.MULTILINE)[1]


def lay_out(site):
    """The libraries as pip lays them out."""
    (site / "onnxruntime").mkdir(parents=True)
    (site / "onnxruntime/capi").symlink_to(CACHE / f"onnxruntime-{version('ONNXRUNTIME')}/lib")
    (site / "torch").symlink_to(CACHE / f"torch-{version('TORCH')}/torch")


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.place = pathlib.Path(cls.folder.name)
        subprocess.run(["bash", ROOT / "launch/wheel.sh", BUILD, cls.place / "dist"], check=True, env=cls.environment())
        (cls.wheel,) = (cls.place / "dist").iterdir()
        cls.home = cls.place / "environment"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", cls.home], check=True)
        cls.install(cls.home)
        (cls.site,) = cls.home.glob("lib/python*/site-packages")

    @classmethod
    def install(cls, home):
        subprocess.run([sys.executable, "-m", "pip", "--python", home / "bin/python", "install", "--quiet", "--no-deps",
                        "--no-index", "--disable-pip-version-check", cls.wheel], check=True)

    @classmethod
    def environment(cls, *path):
        own = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
        return {**own, "PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(map(str, path))}

    def regraft(self, *arguments, path=()):
        """Runs the command in a folder that has nothing to do with it."""
        return subprocess.run([self.home / "bin/regraft", *arguments], cwd="/", env=self.environment(*path),
                              capture_output=True, text=True)

    def elsewhere(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return pathlib.Path(folder.name)

    def test_is_small_and_says_what_it_needs(self):
        self.assertLess(self.wheel.stat().st_size, MOST_BYTES)
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
            (metadata,) = (archive.read(name).decode() for name in names if name.endswith(".dist-info/METADATA"))
        for package in "torch", "onnxruntime":
            self.assertIn(f"Requires-Dist: {package}=={version(package.upper())}\n", metadata)
        self.assertIn("regraft/configs/policies/default.policy", names)
        self.assertIn("regraft/configs/runtimes/openvino.py", names)
        self.assertIn("regraft/configs/rules/conv.proofs.tar.xz", names)
        self.assertEqual([name for name in names if "torch" in name or "experiments/results" in name], [])

    def libraries(self, program):
        """(name, path) of each that the program needs."""
        ldd = subprocess.run(["ldd", self.site / "regraft/bin" / program], capture_output=True, text=True, check=True)
        return re.findall(r"^\s*(\S+?)\.so\S* => (\S+)", ldd.stdout, re.MULTILINE)

    def test_sessions_start_without_torch(self):
        names = {name for name, _ in self.libraries("regraft_runtime")}
        self.assertIn("libprotobuf", names)
        self.assertEqual(names & {"libtorch_cpu", "libc10"}, set())

    def test_needs_no_library_that_nobody_brings(self):
        found = self.libraries("regraft")
        own = {name for name, path in found if path.startswith(str(self.site))}
        self.assertIn("libz3", own)
        self.assertLessEqual({name for name, _ in found} - own - {"libtorch_cpu", "libc10", "libonnxruntime"}, MACHINE)

    def test_runs_with_libraries_beside_it_and_elsewhere(self):
        place = self.elsewhere()
        lay_out(place)
        away = self.regraft("--version", path=[place])
        self.assertEqual((away.stdout.split(" ")[0], away.returncode), ("regraft", 0), away.stderr)
        lay_out(self.site)
        self.addCleanup(self.take_away)
        self.assertEqual(self.regraft("--version").stdout, away.stdout)
        self.assertEqual(self.regraft("trian").returncode, 2)

    def test_finds_its_presets_from_any_folder(self):
        lay_out(self.site)
        self.addCleanup(self.take_away)
        out = self.elsewhere() / "some.rollouts"
        collected = self.regraft("collect", "--config", "configs/synthetic.toml", "--set", "world.collect_steps=1",
                                 "-o", out)
        self.assertEqual(collected.returncode, 0, collected.stderr)
        self.assertTrue(out.exists())

    def test_experiments_are_run_by_its_python_or_another_one(self):
        lay_out(self.site)
        self.addCleanup(self.take_away)
        own = self.regraft("experiment", "--list")
        self.assertEqual(own.returncode, 1, own.stdout)
        self.assertIn("pip install pandas", own.stderr, "the environment has none")
        self.assertIn(str(self.home / "bin/python"), own.stderr)
        environment = {**self.environment(), "REGRAFT_PYTHON": sys.executable}
        other = subprocess.run([self.home / "bin/regraft", "experiment", "--list"], cwd=self.elsewhere(), env=environment,
                               capture_output=True, text=True)
        self.assertEqual(other.returncode, 0, other.stderr)
        self.assertIn("model-free", other.stdout)

    def test_becomes_the_program_so_that_signals_are_its_own(self):
        lay_out(self.site)
        self.addCleanup(self.take_away)
        model = self.elsewhere() / "model.onnx"
        model.write_bytes(lzma.decompress((ROOT / "tests/models/nasrnn.onnx.xz").read_bytes()))
        command = [self.home / "bin/regraft", "optimise", model, "-o", model.with_name("faster.onnx")]
        with subprocess.Popen(command, env=self.environment(), stderr=subprocess.PIPE, text=True) as process:
            self.assertIn("import", process.stderr.readline())  # the program is at work
            program = pathlib.Path(f"/proc/{process.pid}/exe").resolve()
            self.assertEqual(program, self.site.resolve() / "regraft/bin/regraft")
            process.kill()
        self.assertEqual(process.returncode, -signal.SIGKILL)

    def take_away(self):
        (self.site / "torch").unlink()
        (self.site / "onnxruntime/capi").unlink()
        (self.site / "onnxruntime").rmdir()

    def test_says_which_package_is_missing_or_of_another_version(self):
        missing = self.regraft("--version")
        self.assertEqual(missing.returncode, 1)
        self.assertIn(f"pip install torch=={version('TORCH')}", missing.stderr)
        self.assertNotIn("Traceback", missing.stderr)
        place = self.elsewhere()
        lay_out(place)
        (place / "torch-1.0.dist-info").mkdir()
        (place / "torch-1.0.dist-info/METADATA").write_text("Name: torch\nVersion: 1.0\n")
        other = self.regraft("--version", path=[place])
        self.assertEqual(other.returncode, 1)
        self.assertIn(f"torch 1.0 is installed, and {version('TORCH')} is needed", other.stderr)

    def test_brings_completion_for_shells(self):
        for file in "bash-completion/completions/regraft", "zsh/site-functions/_regraft":
            self.assertIn("regraft optimise", (self.home / "share" / file).read_text().replace("_", " "))

    def test_brings_the_batch_script(self):
        self.assertIn("sbatch", (self.home / "share/regraft/slurm.sh").read_text())

    def test_package(self):
        lay_out(self.site)
        self.addCleanup(self.take_away)
        onnx = CACHE / f"onnx-{version('ONNX')}"
        command = [self.home / "bin/python", "-B", pathlib.Path(__file__).with_name("package_checks.py"), "-v"]
        checks = subprocess.run(command, cwd="/", env=self.environment(onnx), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        self.assertEqual(checks.returncode, 0, checks.stdout)
        print(checks.stdout)


if __name__ == "__main__":
    unittest.main()
