"""Makes the runs of an experiment that are not done yet, and collects their rows into tables."""

import contextlib
import ctypes
import fcntl
import json
import lzma
import pathlib
import resource
import shutil
import signal
import subprocess
import time
from types import SimpleNamespace

import pandas as pd

from .extract import extract, require_wanted
from .files import explained, installed, write
from .plan import hash_text, plan_runs
from .tables import show, to_csv

GRACE_S, POLL_S = 60, 0.2  # for a command to save before it is killed; between looks at a lock
NOTHING = {"seconds": 0, "cpu_minutes": 0, "failure": "", "stamp": ""}  # of a run that came to nothing


class Stop:
    """Whether to end early; asks the running command to save."""

    requested, child = False, None

    def request(self, *_):
        self.requested = True
        if self.child:
            self.child.terminate()
            signal.signal(signal.SIGALRM, lambda *_: self.child.kill())
            signal.alarm(GRACE_S)


def run_experiment(spec, program, out, report, stop):
    """Runs what is not done yet, one after another, and writes OUT/TABLE.csv of what is there."""
    plan, records, used = plan_runs(spec, out), [], {False: 0, True: 0}  # CPU-minutes, those of borrowed steps apart
    out.mkdir(parents=True, exist_ok=True)
    for file in [file for file in map(pathlib.Path, spec.unpack) if not file.exists()]:
        _unpack(file)
    for number, run in enumerate(plan, 1):
        missing = [f"not run: needs {plan[i].label}" for i in run.inputs if records[i]["failure"]]
        inputs = _inputs(run, records)
        with _locked(run.folder, stop):
            done = _saved(run.folder / "done.json", run, inputs)
            obstacles = ["not run"] * stop.requested + missing
            made = done or ({"failure": obstacles[0]} if obstacles else _execute(run, program, inputs, stop))
        record = {"label": run.label, "arguments": run.arguments, "reused": bool(done), **NOTHING, **made}
        said = record["failure"] or ("done before" if done else f"done in {show(record['seconds'])} s")
        report(f"[{number}/{len(plan)}] {run.label}: {said}")
        used[run.step.name in spec.borrowed] += record["cpu_minutes"]
        records.append(record)
    tables = {name: _collect(spec, name, plan, records) for name in dict.fromkeys(rows.table for rows in spec.rows)}
    for name, table in tables.items():
        write(out / f"{name}.csv", to_csv(table))
    return SimpleNamespace(runs=records, tables=tables, cpu_minutes=used[False], borrowed_cpu_minutes=used[True],
                           complete=not any(record["failure"] for record in records))


def _unpack(file):
    # Model files that tests and quickstart share: packed beside the folder they are unpacked into.
    packed = file.parent.parent / f"{file.name}.xz"
    with explained((OSError, lzma.LZMAError), "cannot be unpacked", packed,
                   "call it from the sources' folder, or put the model there"):
        model = lzma.decompress(packed.read_bytes())
        file.parent.mkdir(parents=True, exist_ok=True)
        write(file, model)


def _inputs(run, records):
    # What a run depends on beside its arguments: rules and devices, earlier runs, its config file.
    files = [*installed("configs/rules").rglob("*"), *installed("configs/devices").rglob("*")]
    rules = [file for file in sorted(files) if file.suffix in (".rules", ".toml")]
    named = [installed(after) for before, after in zip(run.arguments, run.arguments[1:]) if before == "--config"]
    stamps = {file: f"{file} {hash_text(file.read_bytes())}" for file in [*rules, *named] if file.exists()}
    return ["rules and devices " + hash_text("".join(f"{stamps[file]}\n" for file in rules).encode()),
            *(records[i]["stamp"] for i in run.inputs), *(stamps[file] for file in named if file in stamps)]


def _locked(folder, stop):
    # A file, open while a run is looked up and made: experiments that share one wait for each other.
    folder.parent.mkdir(parents=True, exist_ok=True)
    file = open(f"{folder}.lock", "w")
    while not stop.requested:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        time.sleep(POLL_S)
    return file


def _saved(path, run, inputs):
    # What an attempt wrote, where it was one of the same command on the same inputs.
    with contextlib.suppress(FileNotFoundError, ValueError, KeyError, TypeError):
        saved = json.loads(path.read_text())
        return saved if (saved["arguments"], saved["inputs"]) == (run.arguments, inputs) else {}
    return {}


def _execute(run, program, inputs, stop):
    log, started = run.folder / "log.txt", run.folder / "started.json"
    left = {*run.folder.glob("*")} - {log, started}
    earlier = _saved(started, run, inputs) if run.step.resume and left else {}
    if not earlier:
        shutil.rmtree(run.folder, ignore_errors=True)
    run.folder.mkdir(parents=True, exist_ok=True)
    state = {"seconds": 0, "cpu_minutes": 0, **earlier, "arguments": run.arguments, "inputs": inputs}
    write(started, json.dumps(state, indent=1) + "\n")
    begin, before = time.monotonic(), sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])  # of user and system
    with open(log, "a") as output:
        # In a group of its own, so that Ctrl-C reaches this process alone; 1, PR_SET_PDEATHSIG: it ends with this one.
        stop.child = child = subprocess.Popen(
            [program, *run.arguments, *(run.step.resume if earlier else [])], stdin=subprocess.DEVNULL, stdout=output,
            stderr=output, process_group=0, preexec_fn=lambda: ctypes.CDLL(None).prctl(1, signal.SIGTERM))
    if stop.requested:
        stop.request()
    code = child.wait()
    state["seconds"] += time.monotonic() - begin
    state["cpu_minutes"] += (sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before) / 60
    failure = "stopped" if stop.requested else ""
    if code and not failure:
        how = f"exit code {code}" if code > 0 else f"killed by signal {-code} ({signal.strsignal(-code)})"
        failure = "\n".join([f"{how}; {log} ends:", *log.read_text(errors="replace").splitlines()[-4:]])
    state["stamp"] = "" if failure else str(time.time_ns())
    write(started if failure else run.folder / "done.json", json.dumps(state, indent=1) + "\n")
    return {**state, "failure": failure}


def _collect(spec, name, plan, records):
    # A table: the keys of the steps of its [[rows]], then the columns that they name, each once.
    keys, columns, lines = [], [], []
    for rows in [rows for rows in spec.rows if rows.table == name]:
        keys += [key for step in rows.step for key in spec.steps[step].over]
        columns += rows.columns
        runs = [(run, record["failure"]) for run, record in zip(plan, records) if run.step.name in rows.step]
        done = [run for run, failure in runs if not failure]
        if rows.where and len(done) == len(runs) and {run.step.name for run in done} == set(rows.step):
            require_wanted(rows, [run.folder for run in done])
        lines += [{**run.values, **dict(zip(rows.columns, row))} for run in done for row in extract(rows, run.folder)]
    return pd.DataFrame(lines, columns=list(dict.fromkeys(keys + columns)), dtype=str).fillna("")
