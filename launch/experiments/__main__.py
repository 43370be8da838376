"""The commands `experiment` and `report`, as the program starts them (launch/cli/experiments_process.h)."""

import json
import os
import pathlib
import signal
import sys
from types import SimpleNamespace

FOLDER = pathlib.Path("configs/experiments")
TO_INSTALL = ("apt-get install python3-pandas python3-matplotlib python3-jinja2 python3-xxhash python3-crc32c, or "
              "pip install pandas matplotlib jinja2 xxhash crc32c; REGRAFT_PYTHON=... names another Python")


def _description(name):
    path = pathlib.Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if not path.exists():
        known = [file.stem for file in FOLDER.glob("*.toml")]
        raise UsageError(f"there is no experiment '{path.stem}'", path.parent, nearest(
            name, known, "see `regraft experiment --list`, from the folder that holds configs/, or give a .toml file"))
    return path


def _list():
    for path in sorted(FOLDER.glob("*.toml")):
        full, small = load(path, False), load(path, True)
        print(f"{full.name:<24} {len(plan_runs(full, '')):4} runs, {full.cpu_minutes:6.0f} CPU-minutes (small "
              f"{len(plan_runs(small, '')):3}, {small.cpu_minutes:4.0f})  {full.title}")
    return 0


def _experiment(call):
    if call.list:
        return _list()
    spec = load(_description(call.name), call.small)
    out = call.out or f"results/experiments/{spec.name}{'-small' if call.small else ''}"
    if call.plan:
        for run in plan_runs(spec, out):
            print("regraft", *run.arguments)
        return 0
    stop = Stop()
    for number in (signal.SIGTERM, signal.SIGINT):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, stop.request)
    signal.signal(signal.SIGUSR1, lambda *_: None)  # a scheduler's warning, for the commands
    result = run_experiment(spec, call.program, out, lambda line: print(line, file=sys.stderr, flush=True), stop)
    record = publish(spec, result, call.small, out)
    for name, title in record["summaries"]:
        table = read_csv(pathlib.Path(out) / f"{name}.csv")
        lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in
                 [table.columns, *table.itertuples(index=False)]]
        print(title, lines[0], "|" + "---|" * len(table.columns), *lines[1:], "", sep="\n")
    print(f"{describe_use(record)}; tables and plots: {out}; a page of them: regraft report {out} -o report.html")
    return 0 if result.complete else 1


def _report(call):
    write(call.output, report_html(call.folders, call.output))
    print(call.output)
    return 0


def main():
    """Reads what to do as JSON, from the program, which has checked its options."""
    call = SimpleNamespace(**json.loads(sys.argv[1]))
    try:
        code = {"experiment": _experiment, "report": _report}[call.command](call)
        sys.stdout.flush()
        return code
    except ExperimentError as error:
        print(f"regraft: {error}", file=sys.stderr)
        return error.code
    except OSError as error:
        print(f"regraft: {error.filename or 'standard output'}: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left in the buffer has nowhere to go
        return 1


try:
    from .description import load
    from .files import ExperimentError, UsageError, nearest, write
    from .plan import plan_runs
    from .publish import describe_use, publish, report_html
    from .runs import Stop, run_experiment
    from .tables import read_csv
except ImportError as error:
    sys.exit(f"regraft: Python {sys.version.split()[0]}, {sys.executable}: {error} ({TO_INSTALL})")
sys.exit(main())
