"""Steps a second of random legal rewrites through regraft_gym: walk_bench.py MODEL.onnx [STEPS]. As `regraft bench --env`
steps: each legal rewrite equally probable, NO-OP only where there is no other, resets included."""

import sys
import time

import numpy as np
import regraft_gym


def walk(env, steps, rng):
    observation, _ = env.reset()
    for _ in range(steps):
        candidates = observation["candidates"]
        legal = len(candidates["rules"]) - 1
        row = rng.integers(legal) if legal else 0
        observation, _, terminated, truncated, _ = env.step((candidates["rules"][row], candidates["locations"][row]))
        if terminated or truncated:
            observation, _ = env.reset()


def main():
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    env = regraft_gym.RewriteEnv(sys.argv[1], horizon=100)
    rng = np.random.default_rng(1)
    clock, processor = time.perf_counter(), time.process_time()
    walk(env, steps, rng)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    print(f"{steps / clock:.0f} steps/s ({steps / processor:.0f} by CPU time), {steps} steps")


main()
