"""clang-tidy on many sources a translation unit, for most of its time goes into the headers that they share.

usage: tidy.py SECONDS < SOURCES

In the root of the repository; build/clang/compile_commands.json has the flags of the sources, which are named one a
line, what is to be read first on top. Those without flags are left out. After SECONDS (0: no limit) no more is read.
Exit status: 0 when all were read and nothing was found, 3 when nothing was found but not all were read, else 1.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

UNIT = 16  # sources in a unit at most: with more of them, more local names clash
FOLDER = pathlib.Path("build/clang/tidy/tests")  # .clang-tidy has what lies in a folder of that name looked at
ERROR = re.compile(r"^(/.*?):\d+:\d+: error: .* \[(\S+)\]$", re.MULTILINE)
USING = re.compile(r"^ *using (?:\w+::)+(\w+);", re.MULTILINE)
PLANTED = """#include <string>
using std::stoi;
int length(std::string name) { return static_cast<int>(name.size()); }
"""


def flags_by_source():
    flags = {}
    for entry in json.loads(pathlib.Path("build/clang/compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        flags[entry["file"]] = tuple(words[1 : words.index("-o")])
    return flags


def units(sources, flags):
    """The sources with equal flags together, each unit where the first of its sources stands."""
    by_flags, ordered = {}, []
    for source in sources:
        unit = by_flags.get(flags[source])
        if unit is None or len(unit) == UNIT:
            unit = by_flags[flags[source]] = []
            ordered.append(unit)
        unit.append(source)
    return ordered


def unused_names(source):
    """Using-declarations of names that the source does not use: clang-tidy sees none in what a unit includes."""
    text = pathlib.Path(source).read_text()
    return [f"{source}: error: 'using' of {name}, which is not used"
            for name in USING.findall(text) if len(re.findall(rf"\b{name}\b", text)) == 1]


def read(sources, flags, end):
    """Which of the sources were read until the end, and what was found.

    Where names of several sources clash, some do not parse, or mean something else. So those with an error are read
    again without the others, and at last alone, which decides. What does not parse then is beyond clang 14.
    """
    unit = FOLDER / sources[0].replace("/", "_")
    unit.write_text("".join(f'#include "{source}"\n' for source in sources))
    command = ["clang-tidy", "--quiet", "--checks=-bugprone-suspicious-include", unit, "--", *flags, "-ferror-limit=0"]
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False,
                                timeout=end and max(0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        return [], []
    errors = list(ERROR.finditer(result.stdout))
    failed = result.returncode != 0 and not errors
    again = [source for source in sources if failed or any(error[1] == source for error in errors)]
    again = again if len(sources) > 1 else []
    done = [source for source in sources if source not in again]
    found = [error[0] for error in errors if error[2].endswith(",-warnings-as-errors") and error[1] not in again]
    if failed and not again:
        found.append(f"{sources[0]}: error: clang-tidy ends with {result.returncode}")
    for part in [again] if 0 < len(again) < len(sources) else [[source] for source in again]:
        also_done, also_found = read(part, flags, end)
        done, found = done + also_done, found + also_found
    return done, found


def main():
    seconds = int(sys.argv[1])
    end = time.monotonic() + seconds if seconds else None
    flags = flags_by_source()
    sources = [source for source in map(os.path.abspath, sys.stdin.read().split()) if source in flags]
    FOLDER.mkdir(parents=True, exist_ok=True)
    planted = os.path.abspath(FOLDER / "planted_fault.cc")
    pathlib.Path(planted).write_text(PLANTED)
    seen = unused_names(planted) and read([planted], ["-std=c++20"], None)[1]
    found = [] if seen else ["a planted fault is not found"]
    found += [line for source in sources for line in unused_names(source)]
    done = []
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as readers:
        results = readers.map(lambda unit: read(unit, flags[unit[0]], end), units(sources, flags))
        for also_done, also_found in results:
            done, found = done + also_done, found + also_found
    print("\n".join(dict.fromkeys(found)))
    print(f"note: clang-tidy read {len(done)} of {len(sources)} changed sources")
    sys.exit(1 if found else 3 if len(done) < len(sources) else 0)


main()
