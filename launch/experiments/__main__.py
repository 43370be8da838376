"""The commands `experiment` and `report`, as the program starts them (launch/cli/become_experiments.h)."""

import json
import pathlib
import signal
import sys

try:
    from .description import load
    from .files import ExperimentError, installed, nearest, require, write
    from .plan import plan_runs
    from .publish import publish, report_html
    from .runs import Stop, run_experiment
    from .tables import read_csv
except ImportError as missing:
    sys.exit(f"regraft: Python {sys.version.split()[0]}, {sys.executable}: {missing} (pip install pandas matplotlib "
             "jinja2 xxhash crc32c, or apt-get install python3-pandas and so on; REGRAFT_PYTHON=... is another Python)")

FOLDER = installed("configs/experiments")


def _description(name):
    path = installed(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    remedy = nearest(name, [file.stem for file in FOLDER.glob("*.toml")],
                     "see `regraft experiment --list`, or give a .toml file")
    require(path.exists(), f"there is no experiment '{path.stem}'", path.parent, remedy, 2)
    return path


def _experiment(call):
    if call["list"]:
        for path in sorted(FOLDER.glob("*.toml")):
            full, small = load(path, False), load(path, True)
            print(f"{full.name:<24} {len(plan_runs(full, '')):4} runs, {full.cpu_minutes:6.0f} CPU-minutes (small "
                  f"{len(plan_runs(small, '')):3}, {small.cpu_minutes:4.0f})  {full.title}")
        return 0
    spec = load(_description(call["name"]), call["small"])
    out = pathlib.Path(call["out"] or f"results/experiments/{spec.name}" + "-small" * call["small"])
    if call["plan"]:
        return print(*(" ".join(["regraft", *run.arguments]) for run in plan_runs(spec, out)), sep="\n")
    stop = Stop()
    for number in (signal.SIGTERM, signal.SIGINT):
        if signal.getsignal(number) != signal.SIG_IGN:  # as a shell has it for a job in the background
            signal.signal(number, stop.request)
    signal.signal(signal.SIGUSR1, lambda *_: None)  # a scheduler's warning, for the commands
    result = run_experiment(spec, call["program"], out, lambda line: print(line, file=sys.stderr, flush=True), stop)
    record = publish(spec, result, call["small"], out)
    for name, title in record["summaries"]:
        print(title, read_csv(out / f"{name}.csv").to_string(index=False), "", sep="\n")
    print(f"{record['cpu_minutes']:.1f} of {record['budget_cpu_minutes']:.0f} CPU-minutes; tables and plots: {out}; "
          f"a page of them: regraft report {out} -o report.html")
    return 0 if result.complete else 1


def _report(call):
    write(call["output"], report_html(call["folders"], call["output"]))
    print(call["output"])


call = json.loads(sys.argv[1])  # of the program, which has checked its options
try:
    code = _experiment(call) if call["command"] == "experiment" else _report(call)
    sys.stdout.flush()
except ExperimentError as error:
    print(f"regraft: {error}", file=sys.stderr)
    code = error.code
except OSError as error:
    print(f"regraft: {error.filename or 'standard output'}: {error.strerror} "
          "(check the path, its permissions and the disk)", file=sys.stderr)
    sys.stdout = None  # what is left in its buffer has nowhere to go
    code = 1
sys.exit(code)
