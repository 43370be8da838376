#!/usr/bin/env bash
# Sets up, builds and tests everything. Its last line is 'N passed, N failed' over all stages (a stage that is not a
# test program counts as one); its exit status is 0 only when nothing failed.
#   --full            all folders under the sanitizers, and --program too
#   --tree            clang's checks read the whole tree, not only what changed
#   --program         the whole program under AddressSanitizer, in some tests of launch
#   --fuzz SECONDS    each fuzzer, by libFuzzer, for so long (0, the default: none)
#   --fuzz-runs N     each fuzzer, by libFuzzer, for N executions (1000000, say)
#   --walks N         N rewrites of generated models (1000000, say), and walks over all eight real models
#   --models N        N random models, each by four searches, held against ONNX Runtime from Python (1000, say)
#   --large           a model of 3 GB in and out: takes 7 GB of disk
#   --soak N          N tickets between a learner and stub actors (1000000, say): memory and journal stay flat
#   --chaos N         N random faults (200, say) in two jobs, one with a relay: processes killed,
#                     stopped and cut off, disks full
#   --gpu             only what needs a GPU: every phase of learning on it against the CPU, samples a second by batch
#                     size; fails where there is none
#   --tidy SECONDS    clang-tidy for at most so long (default 200; 0: no limit)
#
# The address, undefined-behaviour and thread sanitizers see the folders that need neither LibTorch nor ONNX Runtime.
# Without --full they leave out what takes longest (SANITIZED), and all where what comes before took LATEST seconds.
# clang's checks see the sources that changed since they last read all and found nothing: in this checkout (build/green
# has the commit), or else in any (tests/checked: `git rev-parse HEAD` after a green run with --tree --tidy 0). Where the
# history has neither commit, clang-tidy sees the last 36 hours of it, the check of lifetimes the last four.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

FULL=0
TREE=0
PROGRAM=0
FUZZ_SECONDS=0
FUZZ_RUNS=0
WALKS=0
MODELS=0
SOAK=0
CHAOS=0
LARGE=0
GPU=0
TIDY_SECONDS=200
UNREAD=0
LATEST=2700
declare -A LONGEST=([rule_parser]=1024)  # bytes of a fuzzer's inputs; longer ones take longer and find no more
JOBS=$(nproc)
PASSED=0
FAILED=0
LOG=$(mktemp)
trap 'rm -f "$LOG"' EXIT

usage() {
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}

while (($#)); do
  case $1 in
    --full) FULL=1 ;;
    --tree) TREE=1 ;;
    --large) LARGE=1 ;;
    --gpu) GPU=1 ;;
    --program) PROGRAM=1 ;;
    --fuzz | --fuzz-runs | --tidy | --walks | --models | --soak | --chaos)
      [[ ${2:-} =~ ^[0-9]+$ ]] || usage
      case $1 in
        --fuzz) FUZZ_SECONDS=$2 ;;
        --fuzz-runs) FUZZ_RUNS=$2 ;;
        --tidy) TIDY_SECONDS=$2 ;;
        --walks) WALKS=$2 ;;
        --models) MODELS=$2 ;;
        --soak) SOAK=$2 ;;
        --chaos) CHAOS=$2 ;;
      esac
      shift
      ;;
    *) usage ;;
  esac
  shift
done

# stage NAME COMMAND...: runs it, shows its time, and counts its tests, or itself where it runs none.
stage() {
  local name=$1 begin=$SECONDS status passed=0 failed=0
  shift
  printf '== %s\n' "$name"
  "$@" >"$LOG" 2>&1
  status=$?
  if [[ $(grep -E 'tests passed, [0-9]+ tests? failed out of' "$LOG") =~ ([0-9]+)\ tests?\ failed\ out\ of\ ([0-9]+) ]]; then
    failed=${BASH_REMATCH[1]}
    passed=$((BASH_REMATCH[2] - failed))
  fi
  if ((status != 0 && failed == 0)); then
    failed=1
  elif ((status == 0 && passed == 0)); then
    passed=1
  fi
  if ((status != 0)); then
    grep -vE '^ +Start +[0-9]+:| Passed +[0-9.]+ sec$' "$LOG" | tail -n 200
  else
    grep -E '^(setup|note): | rewrites|peak RSS|tickets:' "$LOG"
  fi
  PASSED=$((PASSED + passed))
  FAILED=$((FAILED + failed))
  printf '== %s: %d passed, %d failed in %d s\n' "$name" "$passed" "$failed" $((SECONDS - begin))
  return $status
}

# What AddressSanitizer and UBSan see without --full: all but core/proof and core/rulegen, which run Z3 and enumerate rules
# for many minutes there, and the fuzzers' inputs.
SANITIZED=(core/base core/graph core/onnx core/corpus core/rules core/cost core/env core/search core/task core/wire replay learner)
# The folders with threads in them, of those that the sanitizer presets build: all that ThreadSanitizer can say something of.
# The threads of core/proof run Z3, which is not instrumented; core/rulegen is for --full.
THREADED=(core/base core/search core/wire learner)

# build PRESET [FOLDER...]: everything, or the tests of the folders.
build() {
  local preset=$1 folder targets=()
  shift
  for folder in "$@"; do targets+=(--target "${folder//\//_}_test"); done
  cmake --preset "$preset" && cmake --build --preset "$preset" --parallel "$JOBS" "${targets[@]}"
}

# 1000 draws of each rule, but few under the sanitizers, which take many times as long.
# Older ThreadSanitizers cannot run where addresses are randomised widely; without randomisation they always can.
run_tests() {
  local preset=$1 fixed_addresses=() draws=() only
  shift
  if [[ $preset != release ]]; then draws=(env REGRAFT_RULE_DRAWS=40); fi
  only=$(IFS='|' && printf '%s' "$*")
  if [[ $preset == tsan ]] && setarch -R true 2>/dev/null; then fixed_addresses=(setarch -R); fi
  "${draws[@]}" "${fixed_addresses[@]}" ctest --preset "$preset" --parallel 2 --no-tests=error --tests-regex "^($only)"
}

# build_and_test PRESET [FOLDER...]
build_and_test() { stage "build $1" build "$@" && stage "test $1" run_tests "$@"; }

check_format() {
  git ls-files -z '*.h' '*.cc' | xargs -0 --no-run-if-empty clang-format --dry-run --Werror
}

# The sources that show what is in the files named on standard input: of a header those of its pair, or else one that
# includes it.
sources() {
  local file
  awk '!seen[$0]++' | while read -r file; do
    if [[ ! -e $file ]]; then
      continue
    elif [[ $file == *.cc || -e ${file%.h}.cc ]]; then
      printf '%s\n' "${file%.*}.cc"
    else
      git grep -lF "#include \"${file#tests/}\"" -- '*.cc' | head -n 1
    fi
  done | awk '!seen[$0]++'
}

# changed HOURS: the sources to check, the latest changed first. All with --tree, else those that changed since all were
# checked, or in the last hours of the history.
changed() {
  local since checked
  since=--since=$(($(git log -1 --format=%ct) - $1 * 3600))
  for checked in tests/checked build/green; do
    ! git merge-base --is-ancestor "$(cat $checked 2>/dev/null)" HEAD 2>/dev/null || since=$(<$checked)..HEAD
  done
  {
    git diff --name-only HEAD -- '*.h' '*.cc'
    git log "$since" --format= --name-only -- '*.h' '*.cc'
    ((!TREE)) || git ls-files '*.cc'
  } | sources
}

# Those of the files named on standard input whose references or views may lead into temporaries: a call of
# something that a call gave, or a dereferenced call, in an initializer or a range-for.
suspicious() {
  xargs -r grep -lzP '(?s)(for \([^;{}]*[^:]:[^:]|&&? \w+ =|(span<[^;{}]*>|string_view) \w+( =|\(|\{))[^;{}]*(\)\s*(\.|->)\w|\*\w+\(|: \*)'
}

# The compile commands of each source for clang's tools, in build/clang, without what clang does not know.
clang_commands() {
  cmake --preset clang >/dev/null || return 1
  sed -i 's/ -Werror//; s/ -Wno-\(restrict\|stringop-overflow\)//g' build/clang/compile_commands.json
}

# dangling FILE...: what tests/lifetimes.query finds in them, if anything.
dangling() {
  { printf '%s\n' "$@" | xargs -P "$JOBS" -n 2 clang-query -p build/clang -f tests/lifetimes.query 2>/dev/null || true; } |
    grep '"root" binds here'
}

# Containers of temporaries that are walked, and their like. The query must find a planted one, so that it cannot pass by
# finding nothing at all.
check_lifetimes() {
  local files=() folder status=0
  folder=$(mktemp -d)
  printf '%s\n' '#include <vector>' 'struct Model { std::vector<int>& places(); };' 'Model read_model();' \
    'void walk() { for (int place : read_model().places()) (void)place; }' >"$folder/planted.cc"
  clang-query -f tests/lifetimes.query "$folder/planted.cc" -- -std=c++20 2>&1 | grep -q '"root" binds here' || status=1
  ((status == 0)) || echo 'a planted temporary is not found'
  rm -rf "$folder"
  clang_commands
  mapfile -t files < <(changed 4 | suspicious)
  ((${#files[@]} == 0)) || ! dangling "${files[@]}" || status=1
  return $status
}

# analyse_locks FILE: what clang says of it that touches what a mutex guards without the mutex.
analyse_locks() {
  local flags
  flags=$(sed -n "s|^ *\"command\": \".*/c++ \(.*\) -o [^ ]* -c $PWD/$1\",\$|\1|p" build/clang/compile_commands.json | head -n 1)
  eval "clang++ ${flags//\\\\/} -Wno-everything -Wthread-safety -Werror=thread-safety -fsyntax-only $1"
}

# Clang's thread-safety analysis of all mutexes, which are Mutex of core/base/mutex.h and no other. It must find a
# planted fault, so that it cannot pass by finding nothing at all.
check_locks() {
  local file planted status=0
  planted=$(mktemp --suffix .cc)
  printf '%s\n' '#include "core/base/mutex.h"' \
    'struct Count { regraft::Mutex mutex; int held GUARDED_BY(mutex) = 0; int next() { return ++held; } };' >"$planted"
  [[ $(clang++ -std=c++20 -I. -Wthread-safety -fsyntax-only "$planted" 2>&1) == *'requires holding mutex'* ]] || status=1
  ((status == 0)) || echo 'a planted fault is not found'
  rm -f "$planted"
  git grep -nE 'std::(\w*mutex|condition_variable\w*|lock_guard|unique_lock|scoped_lock|shared_lock)\b' -- '*.h' '*.cc' \
    ':!core/base/mutex.h' && status=1
  clang_commands
  for file in $(git grep -lE '\b(Mutex|MutexLock|GUARDED_BY)\b' -- '*.h' '*.cc' ':!core/base/mutex.h' | sources); do
    analyse_locks "$file" || status=1
  done
  return $status
}

# What clang 14 cannot parse of g++ 12's C++20 is no finding.
check_tidy() {
  local status
  clang_commands
  /usr/bin/python3 -B tests/tidy.py "$TIDY_SECONDS" < <(changed 36)
  status=$?
  ((status != 3)) || UNREAD=1
  ((status == 0 || status == 3))
}

# What a fuzzer finds stays in build/fuzz/found, and so do the inputs that it grew, for the next run.
fuzz() {
  local target name found limits=()
  ((FUZZ_SECONDS == 0)) || limits+=("-max_total_time=$FUZZ_SECONDS")
  ((FUZZ_RUNS == 0)) || limits+=("-runs=$FUZZ_RUNS")
  cmake --preset fuzz && cmake --build --preset fuzz --target fuzzers --parallel "$JOBS" || return 1
  for target in build/fuzz/tests/fuzz/*_fuzz; do
    name=$(basename "$target" _fuzz)
    found=build/fuzz/found/$name
    mkdir -p "$found"
    "$target" "${limits[@]}" -max_len="${LONGEST[$name]:-4096}" -timeout=20 -rss_limit_mb=2048 -artifact_prefix="$found-" "$found" \
      "tests/fuzz/$name" || return 1
    printf 'note: %s fuzzed: ' "$name"
    grep -E '^Done [0-9]+ runs' "$LOG" | tail -n 1
  done
}

# Random rewrites, split over the processors by their first seeds, each test printing what it did.
walk() {
  local program=build/release/core/exec/core_exec_test worker pids=() failed=0
  for ((worker = 0; worker < JOBS; ++worker)); do
    REGRAFT_WALKS=$((WALKS / JOBS + 1)) REGRAFT_WALK_SEED=$((1 + worker * 100000000)) OMP_NUM_THREADS=1 \
      "$program" --gtest_filter='GeneratedWalks.*' &
    pids+=($!)
  done
  for worker in "${pids[@]}"; do wait "$worker" || failed=1; done
  REGRAFT_MODEL_WALKS=3 OMP_NUM_THREADS=1 "$program" --gtest_filter='*ModelWalks*' || failed=1
  return $failed
}

# Random models, split over the processors by their seeds.
models() {
  local cache=${REGRAFT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/regraft} worker pids=() failed=0
  version() { sed -n "s/^$1_VERSION=//p" launch/setup.sh; }
  for ((worker = 0; worker < JOBS; ++worker)); do
    REGRAFT_MODELS=$((MODELS / JOBS + 1)) REGRAFT_MODEL_SEED=$((1001 + worker * 1000000)) REGRAFT_MODEL_SEARCHES=4 \
      REGRAFT_BUILD=build/release PYTHONPATH=$cache/onnx-$(version ONNX):$cache/onnxruntime-python-$(version ONNXRUNTIME) \
      /usr/bin/python3 -B tests/launch/python/random_models_test.py --verbose &
    pids+=($!)
  done
  for worker in "${pids[@]}"; do wait "$worker" || failed=1; done
  return $failed
}

# The program with all of its libraries, by the tests of the release build that run it: optimise, verify, explain,
# profile, bench, inspect and a short training. LibTorch and ONNX Runtime, not instrumented, are quiet under it.
# Stacks are not checked after their return: g++ 12 would put 64-byte vectors at odd places there (GCC bug 110027).
PROGRAM_TESTS='Files.*:*Siblings*/1:OptimiseTest.R*:Profile.*:BenchEnvironment.*:ExplainTest.L*:JobTest.Termination*'
asan_program() {
  build asan-program || return 1
  REGRAFT_PROGRAM=$PWD/build/asan-program/regraft ASAN_OPTIONS=detect_stack_use_after_return=0 \
    build/release/launch/launch_test --gtest_filter="$PROGRAM_TESTS"
}

soak() { REGRAFT_SOAK=$SOAK build/release/core/wire/core_wire_test --gtest_filter='Soak.*'; }

chaos() { REGRAFT_CHAOS=$CHAOS build/release/launch/launch_test --gtest_filter='*Chaos*'; }

large() { REGRAFT_LARGE=1 build/release/core/onnx/core_onnx_test --gtest_filter='*Large*'; }

# The tests compare a device with the CPU; where there is no such device they fail, and so do the benchmarks.
gpu() {
  export REGRAFT_DEVICE=cuda
  cmake --build --preset release --target learner_bench --parallel "$JOBS" &&
    build/release/learner/learner_test --gtest_filter='*OnTheDevice*' &&
    build/release/core/exec/core_exec_test --gtest_filter='*OnTheDevice*' &&
    build/release/learner/learner_bench --benchmark_filter=on_device | sed 's/^/note: /'
}

# The last line, and the exit status.
finish() {
  printf '== all: %d s\n' "$SECONDS"
  printf '%d passed, %d failed\n' "$PASSED" "$FAILED"
  ((FAILED == 0)) || exit 1
}

stage "set up" bash launch/setup.sh
if ((GPU)); then
  stage "build release" build release learner core/exec && stage "gpu" gpu
  finish
  exit
fi
build_and_test release
stage "format" check_format
stage "locks" check_locks
stage "lifetimes" check_lifetimes
stage "tidy" check_tidy
if ((FULL)); then
  build_and_test asan
  build_and_test tsan "${THREADED[@]}" core/rulegen
elif ((SECONDS < LATEST)); then
  build_and_test asan "${SANITIZED[@]}"
  build_and_test tsan "${THREADED[@]}"
else
  printf 'note: without sanitizers: %d s have gone by on this machine (--full runs them)\n' "$SECONDS"
fi
((FULL + PROGRAM == 0)) || stage "asan-program" asan_program
((WALKS == 0)) || stage "walks" walk
((MODELS == 0)) || stage "models" models
((SOAK == 0)) || stage "soak" soak
((CHAOS == 0)) || stage "chaos" chaos
((LARGE == 0)) || stage "large" large
((FUZZ_SECONDS + FUZZ_RUNS == 0)) || stage "fuzz" fuzz
finish
((UNREAD)) || git rev-parse HEAD >build/green
