#!/usr/bin/env bash
# The main job on two real models, from a fresh clone: set up, build, train a policy under mpirun, optimise with it, measure.
#   bash launch/quickstart.sh [RESULT_FOLDER]
# NasRNN and ViT-B/16 from tests/models; about 7 minutes after set-up and build on 2 cores.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
started=$SECONDS
results=$(realpath -m "${1:-results/quickstart-$(date +%Y%m%d-%H%M%S)}")

section() { printf '\n== %s (%d s)\n' "$1" $((SECONDS - started)); }

section "set-up"
bash launch/setup.sh
section "build"
cmake --preset release > /dev/null
cmake --build --preset release --target regraft regraft_mpi | tail -n 1
built=$SECONDS
program=build/release/regraft

mkdir -p "$results" tests/models/unpacked
for model in nasrnn vit_b_16 resnet18; do
  [ -f "tests/models/unpacked/$model.onnx" ] ||
    { xz -dkc "tests/models/$model.onnx.xz" > "tests/models/unpacked/$model.part" &&
      mv "tests/models/unpacked/$model.part" "tests/models/unpacked/$model.onnx"; }
done

section "train: one learner, two actors, over ZeroMQ"
command -v mpirun > /dev/null || { echo "mpirun is missing: install openmpi-bin" >&2; exit 1; }
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun -n 3 --oversubscribe --bind-to none --mca odls_base_sigkill_timeout 30 \
  "$program" train --config configs/all-sites.toml --run "$results/run" --set train.minutes=3.2 --set ppo.normalise_by_model=true
policy=$results/run/policies/latest.policy

section "the policy beside searches: return = 1 - cost / initial cost of the last graph (mean); best: of the best one"
"$program" evaluate --config configs/all-sites.toml --models tests/models/unpacked/nasrnn.onnx --policy "$policy" \
  --searches greedy,all_sites_descent,policy --candidates 10000 --episodes 20 --json "$results/evaluate.json"

budget() { if [ "$1" = nasrnn ]; then echo 20; else echo 45; fi; }
for model in nasrnn vit_b_16; do
  section "optimise $model"
  "$program" optimise "tests/models/unpacked/$model.onnx" -o "$results/$model.onnx" --policy "$policy" \
    --budget "$(budget $model)" --measure-budget 60 --threads 1 --json "$results/$model.json" --log "$results/$model.log" 2> "$results/$model.err" ||
    { cat "$results/$model.err" >&2; exit 1; }
done

section "result: against ONNX Runtime with its full optimisation, one thread"
python3 - "$results" nasrnn vit_b_16 <<'PY'
import json
import sys

folder, models = sys.argv[1], sys.argv[2:]
print(f"{'model':<12}{'accepted':<10}{'before ms':>10}{'after ms':>10}{'speedup':>9}{'95 % interval':>18}{'rel. error':>12}{'nodes':>13}")
for model in models:
    r = json.load(open(f"{folder}/{model}.json"))
    if r["speedup"] is None:
        print(f"{model:<12}{'no':<10} {r['reason']}")
        continue
    print(f"{model:<12}{'yes' if r['accepted'] else 'no':<10}{r['latency_before_ms']:>10.3f}{r['latency_after_ms']:>10.3f}"
          f"{r['speedup']:>9.3f}{'[%.3f, %.3f]' % (r['speedup_low'], r['speedup_high']):>18}{r['max_relative_error']:>12.2g}"
          f"{'%d -> %d' % (r['nodes_before'], r['nodes_after']):>13}")
PY
echo "optimised models, reports, rewrite logs, policy and curves: $results"
printf 'time: %d s in all, %d s after set-up and build\n' $((SECONDS - started)) $((SECONDS - built))
