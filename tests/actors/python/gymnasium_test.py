"""regraft_gym as Gymnasium wants an environment: its checker, the registry, vectors; several models; threads."""

import os
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

import gymnasium
import numpy as np
import support
from gymnasium.utils.env_checker import check_env


class Checker(unittest.TestCase):
    def test_finds_nothing_but_features_without_bounds(self):
        for model in ("squeezenet1_1", "nasrnn"):
            made = gymnasium.make("regraft/Rewrite-v0", model=str(support.unpacked_model(model)))
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                check_env(made.unwrapped)
            self.assertEqual([str(w.message) for w in found if "infinity" not in str(w.message)], [])


class Registry(unittest.TestCase):
    def test_makes_it_with_its_options(self):
        made = gymnasium.make("regraft_gym:regraft/Rewrite-v0", model=str(support.unpacked_model("squeezenet1_1")), horizon=1)
        observation, _ = made.reset(seed=1)
        self.assertTrue(made.step(np.array(support.action_of(observation, 0)))[2])
        again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(made.spec.to_json()))
        self.assertEqual(again.action_space, made.action_space)

    def test_makes_vectors_in_this_process_and_in_others(self):
        for mode, options in (("sync", {}), ("async", {"shared_memory": False})):
            vector = gymnasium.make_vec("regraft/Rewrite-v0", num_envs=2, vectorization_mode=mode, vector_kwargs=options,
                                        model=str(support.unpacked_model("squeezenet1_1")))
            observations, _ = vector.reset(seed=1)
            self.assertEqual(observations["location_counts"].shape, (2, vector.single_action_space.nvec[0]))
            noop, rewrite = (vector.single_action_space.nvec[0] - 1, 0), [
                int(candidates[0]) for candidates in (observations["candidates"]["rules"][1],
                                                      observations["candidates"]["locations"][1])]
            observations, rewards, terminated, _, infos = vector.step(np.array([noop, rewrite]))
            self.assertEqual(terminated.tolist(), [True, False])
            self.assertEqual(rewards[0], 0.0)
            self.assertEqual(infos["invalid"].tolist(), ["", ""])
            self.assertNotEqual(infos["cost_after"]["latency_us"][0], infos["cost_after"]["latency_us"][1])
            vector.close()


class Seeds(unittest.TestCase):
    def test_of_any_size_will_do(self):
        env = support.make()
        first, _ = env.reset(seed=0)
        for seed in (2**31, 2**64 - 1, 2**70):
            self.assertEqual(support.differences(first, env.reset(seed=seed)[0]), [])


class Models(unittest.TestCase):
    def test_are_chosen_at_reset_and_stay(self):
        names = [support.unpacked_model(name) for name in ("squeezenet1_1", "nasrnn")]
        env = support.regraft_gym.RewriteEnv(names, horizon=5)
        alone = [support.regraft_gym.RewriteEnv(name, horizon=5).reset()[0] for name in names]
        for choice, model in ((None, 0), ("nasrnn", 1), (None, 1), (0, 0), (str(names[1]), 1), (names[0], 0), (np.int64(1), 1)):
            observation, told = env.reset(options=None if choice is None else {"model": choice})
            self.assertEqual(told["model"], str(names[model]))
            self.assertEqual(support.differences(observation, alone[model]), [])
            env.step(support.action_of(observation, 0))

    def test_are_found_with_the_rules_from_any_folder(self):
        model = support.unpacked_model("squeezenet1_1")
        program = f"import regraft_gym; print(regraft_gym.RewriteEnv({str(model)!r}, rules='proved').noop)"
        with tempfile.TemporaryDirectory() as folder:
            said = subprocess.run([sys.executable, "-c", program], cwd=folder, check=True, capture_output=True, text=True)
        proved = int(said.stdout)
        self.assertGreater(proved, 10)
        self.assertLess(proved, support.make().noop)

    def test_are_written_as_the_cheapest_graph_of_the_episode(self):
        env = support.make()
        observation, told = env.reset()
        row, initial = 0, told["cost"]["latency_us"]
        best = initial
        while not best < initial:
            env.reset()
            best = env.step(support.action_of(observation, row))[-1]["cost_best"]["latency_us"]
            row += 1
        env.step((env.noop, 0))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "best.onnx")
            env.write_best(path)
            _, told = support.regraft_gym.RewriteEnv(path).reset()
        self.assertAlmostEqual(told["cost"]["latency_us"] / best, 1, delta=1e-6)


class Seconds(unittest.TestCase):
    def test_are_told_on_demand(self):
        env = support.make(timed=True)
        observation, _ = env.reset()
        seconds = env.step(support.action_of(observation, 0))[-1]["seconds"]
        self.assertEqual(seconds.keys(), {"apply", "cost", "match", "observe"})
        self.assertGreater(min(seconds.values()), 0)
        env = support.make()
        env.reset()
        self.assertNotIn("seconds", env.step((env.noop, 0))[-1])


class Threads(unittest.TestCase):
    def test_run_while_a_step_is_made(self):
        """No thread is made to give Python's lock up, so another one runs only where a step does so by itself."""
        env = support.make("nasrnn", horizon=10000)
        env.reset()
        go, ran = threading.Lock(), []
        go.acquire()
        other = threading.Thread(target=lambda: (go.acquire(), ran.append(True)))
        interval = sys.getswitchinterval()
        other.start()
        try:
            sys.setswitchinterval(1000)
            go.release()
            steps = 0
            while not ran and steps < 9000:
                env.step((0, env.locations))
                steps += 1
            self.assertTrue(ran, f"the lock was held through {steps} steps")
        finally:
            sys.setswitchinterval(interval)
            other.join()

    def test_may_share_an_environment(self):
        env = support.make("nasrnn", horizon=400, invalid_penalty=0.5)
        observation, _ = env.reset()
        action, paid = support.action_of(observation, 0), []

        def play():
            paid.extend(env.step(action)[1:3] for _ in range(100))

        threads = [threading.Thread(target=play) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(paid), 400)
        self.assertEqual(sum(terminated for _, terminated in paid), 1, "each step was counted once")


if __name__ == "__main__":
    unittest.main()
