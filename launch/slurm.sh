#!/usr/bin/env bash
# A training job under Slurm that neither the time limit nor a lost node costs more than a few minutes:
#   sbatch launch/slurm.sh RUN [options of `regraft train`: --config configs/cpu.toml --set workload.models=a.onnx ...]
# It runs REGRAFT, or build/release/regraft of the folder where it is submitted, or the `regraft` in PATH (the wheel's).
# Change the lines below as the cluster wants it; RUN lies on a file system that all nodes see. 90 s before the limit
# Slurm sends USR1 to this shell alone. It goes on to the launcher, which hands it to every rank at once (SIGTERM it
# would hold back), where it means what SIGTERM means: save and stop. The job is then queued again, and a run that was
# begun goes on with --resume. A job that is cancelled (SIGTERM) saves, and stays cancelled.
#   REGRAFT_LAUNCHER   what starts the ranks (default: mpirun, which takes their number and nodes from Slurm; or: srun --mpi=pmix)
#   REGRAFT_REQUEUE    0: do not queue it again after the time limit
#SBATCH --job-name=regraft
#SBATCH --ntasks=8
#SBATCH --cpus-per-task=1
#SBATCH --time=04:00:00
#SBATCH --signal=B:USR1@90
#SBATCH --requeue
#SBATCH --open-mode=append
set -uo pipefail

say() { printf 'slurm.sh: %s\n' "$*" >&2; }

if (($# == 0)) || [[ $1 == -* ]]; then
  say "name the run's folder: sbatch launch/slurm.sh RUN [options of regraft train]"
  exit 2
fi
run=$1
shift
program=${REGRAFT:-build/release/regraft}
[[ -n ${REGRAFT:-} || -x $program ]] || program=$(command -v regraft || echo "$program")
if [[ ! -x $program ]]; then
  say "there is no program at $program: build it, submit from the repository's root, install the wheel, or set REGRAFT"
  exit 2
fi
read -ra launcher <<<"${REGRAFT_LAUNCHER:-mpirun --bind-to none --mca odls_base_sigkill_timeout 60}"

options=(--run "$run")
# Actors on other nodes must reach the learner. What the user says of it comes later and wins.
((${SLURM_JOB_NUM_NODES:-1} == 1)) || options+=(--set wire.address=0.0.0.0)
options+=("$@")
[[ ! -e $run/run_id ]] || options+=(--resume)

job='' asked=0 limit=0 interrupted=0
forward() {
  asked=1 interrupted=1
  say "asked to stop: saving"
  [[ -z $job ]] || kill -USR1 "$job" 2>/dev/null
}
trap 'limit=1; forward' USR1
trap forward TERM

((asked == 0)) || exit 0
"${launcher[@]}" "$program" train "${options[@]}" &
job=$!
while :; do # a signal ends wait before the job
  interrupted=0
  wait "$job"
  code=$?
  ((interrupted)) || break
done

if ((limit && code == 0)) && [[ ${REGRAFT_REQUEUE:-1} != 0 && -n ${SLURM_JOB_ID:-} ]]; then
  say "queueing job $SLURM_JOB_ID again"
  scontrol requeue "$SLURM_JOB_ID"
fi
exit $code
