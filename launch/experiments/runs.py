"""Makes the runs of an experiment that are not done yet, and collects their rows into tables."""

import contextlib
import ctypes
import fcntl
import json
import lzma
import os
import pathlib
import shutil
import signal
import subprocess
import time
from types import SimpleNamespace

import pandas as pd

from .extract import extract, require_wanted
from .files import ExperimentError, write
from .plan import hash_text, plan_runs
from .tables import show, to_csv

GRACE_S, POLL_S = 60, 0.2  # for a command to save before it is killed; between looks at a lock


class Stop:
    """Whether to end early; asks the running command to save."""

    requested, child = False, None

    def request(self, *_):
        self.requested = True
        self._signal(signal.SIGTERM)
        signal.signal(signal.SIGALRM, lambda *_: self._signal(signal.SIGKILL))
        signal.alarm(GRACE_S)

    def _signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            self.child and os.kill(self.child, number)


def run_experiment(spec, program, out, report, stop):
    """Runs what is not done yet, one after another, and writes OUT/TABLE.csv of what is there.

    A run is done again when its command, its --config file, a rule, a device or a run that it reads from is another
    one. A run that fails leaves its log, what reads from it is not run, and the others go on. The result has records
    of the runs, tables by name, and the CPU-minutes of all runs, earlier calls included, those of borrowed ones apart.
    """
    out = pathlib.Path(out)
    plan, records, used = plan_runs(spec, out), [], {False: 0, True: 0}
    out.mkdir(parents=True, exist_ok=True)
    for file in map(pathlib.Path, spec.unpack):
        if not file.exists():
            _unpack(file)
    for number, run in enumerate(plan, 1):
        inputs = _stamps(run, records)
        with _locked(run.folder, stop):
            record = _earlier(run, inputs) or _obstacle(plan, run, records, stop) or \
                _execute(run, program, inputs, stop)
        record = {"label": run.label, "arguments": run.arguments, **record}
        report(f"[{number}/{len(plan)}] {run.label}: " + (
            record["failure"] or ("done before" if record["reused"] else f"done in {show(record['seconds'])} s")))
        used[run.step.borrowed] += record["cpu_minutes"]
        records.append(record)
    tables = {name: _collect(spec, name, plan, records) for name in dict.fromkeys(rows.table for rows in spec.rows)}
    for name, table in tables.items():
        write(out / f"{name}.csv", to_csv(table))
    return SimpleNamespace(runs=records, tables=tables, cpu_minutes=used[False], borrowed_cpu_minutes=used[True],
                           complete=not any(record["failure"] for record in records))


def _unpack(file):
    """Model files that tests and quickstart share: packed beside the folder they are unpacked into."""
    packed = file.parent.parent / (file.name + ".xz")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write(file, lzma.decompress(packed.read_bytes()))
    except (OSError, lzma.LZMAError) as error:
        raise ExperimentError(f"cannot be unpacked: {error}", packed, "put the model there") from error


def _stamps(run, records):
    """What a run depends on beside its arguments: rules and devices, earlier runs, its config file."""
    def stamp(file):
        return f"{file} {hash_text(pathlib.Path(file).read_bytes())}"

    files = [file for folder in ("configs/rules", "configs/devices") for file in pathlib.Path(folder).rglob("*")
             if file.suffix in (".rules", ".toml") or file.name == "status.txt"]
    rules = "".join(stamp(file) + "\n" for file in sorted(files))
    configs = [after for before, after in zip(run.arguments, run.arguments[1:]) if before == "--config"]
    return [f"rules and devices {hash_text(rules)}", *(records[i]["stamp"] for i in run.inputs),
            *(stamp(config) for config in configs if os.path.exists(config))]


@contextlib.contextmanager
def _locked(folder, stop):
    """Held while a run is looked up and made: experiments that share one wait for each other."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{folder}.lock", "w") as file:
        while not stop.requested:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(POLL_S)
        yield


def _saved(path, run, inputs):
    """What an attempt wrote, where it was one of the same command on the same inputs."""
    try:
        saved = json.loads(path.read_text())
        return saved if saved["arguments"] == run.arguments and saved["inputs"] == inputs else None
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _record(saved, reused=False, failure=""):
    return {"seconds": saved.get("seconds", 0), "cpu_minutes": saved.get("cpu_minutes", 0), "failure": failure,
            "reused": reused, "stamp": saved.get("stamp", "")}


def _earlier(run, inputs):
    saved = _saved(run.folder / "done.json", run, inputs)
    return saved and _record(saved, reused=True)


def _obstacle(plan, run, records, stop):
    """Why a run cannot be run: a stop, or a run that it reads from is not done."""
    missing = [f": needs {plan[i].label}" for i in run.inputs if records[i]["failure"]]
    if stop.requested or missing:
        return _record({}, failure="not run" if stop.requested else "not run" + missing[0])
    return None


def _execute(run, program, inputs, stop):
    log, started = run.folder / "log.txt", run.folder / "started.json"
    before = _saved(started, run, inputs) if run.step.resume else None
    if not before or not {file.name for file in run.folder.iterdir()} - {"log.txt", "started.json"}:
        before = None
        shutil.rmtree(run.folder, ignore_errors=True)
    run.folder.mkdir(parents=True, exist_ok=True)
    state = {"seconds": 0, "cpu_minutes": 0, **(before or {}), "arguments": run.arguments, "inputs": inputs}
    write(started, json.dumps(state, indent=1) + "\n")
    begin, failure = time.monotonic(), ""
    with open(log, "a") as output:
        child = subprocess.Popen([program, *run.arguments, *(run.step.resume if before else [])],
                                 stdin=subprocess.DEVNULL, stdout=output, stderr=output, preexec_fn=_end_with_parent)
    stop.child = child.pid
    if stop.requested:
        stop.request()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = code = os.waitstatus_to_exitcode(status)
    stop.child = None
    state["seconds"] += time.monotonic() - begin
    state["cpu_minutes"] += (used.ru_utime + used.ru_stime) / 60
    if stop.requested:
        failure = "stopped"
    elif code:
        how = f"exit code {code}" if code > 0 else f"killed by signal {-code} ({signal.strsignal(-code)})"
        failure = "\n".join([f"{how}; {log} ends:", *log.read_text(errors="replace").splitlines()[-4:]])
    else:
        state["stamp"] = str(time.time_ns())
    write(started if failure else run.folder / "done.json", json.dumps(state, indent=1) + "\n")
    return _record(state, failure=failure)


def _end_with_parent():
    """In the child: its own group, so that Ctrl-C reaches this process alone, and a signal where this one dies."""
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def _collect(spec, name, plan, records):
    """A table: the keys of the steps of its [[rows]], then the columns that they name, each once."""
    of_table = [rows for rows in spec.rows if rows.table == name]
    keys = [key for rows in of_table for step in spec.steps if step.name == rows.step for key in step.over]
    columns = list(dict.fromkeys(keys + [column for rows in of_table for column in rows.columns]))
    lines = [{**run.values, **dict(zip(rows.columns, cells))} for rows in of_table for run, record in zip(plan, records)
             if run.step.name == rows.step and not record["failure"] for cells in extract(rows, run.folder)]
    for rows in of_table:  # which may be several of one [[rows]]; asked once all of its runs are there and done
        same = {each.step for each in of_table if {**vars(each), "step": rows.step} == vars(rows)}
        found = [(run, record) for run, record in zip(plan, records) if run.step.name in same]
        if rows.where and {run.step.name for run, _ in found} == same and not any(done["failure"] for _, done in found):
            require_wanted(rows, [run.folder for run, _ in found])
    return pd.DataFrame(lines, columns=columns, dtype=str).fillna("")
