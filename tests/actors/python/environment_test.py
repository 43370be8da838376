"""Episodes of regraft_gym: the C++ environment's walks, observations, masks, rewards, horizon, invalid actions, NO-OP."""

import copy
import hashlib
import os
import subprocess
import unittest

import numpy as np
import support

SEED = 1


def digests(observation):
    """As walk_main.cc prints them."""
    arrays = support.arrays(observation)
    arrays["senders"], arrays["receivers"] = arrays.pop("edge_links").T
    del arrays["rule_mask"]
    return {name: hashlib.sha256(array.tobytes()).hexdigest() for name, array in arrays.items()}


class Walks(unittest.TestCase):
    def test_equal_those_of_the_cpp_environment_bit_for_bit(self):
        for model, horizon in (("squeezenet1_1", 30), ("nasrnn", 12)):
            with self.subTest(model=model, seed=SEED):
                command = [os.environ["REGRAFT_WALK"], model, str(SEED), "4", str(horizon)]
                walk = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
                self.follow(support.make(model, horizon=horizon), [line.split() for line in walk])

    def follow(self, env, walk):
        steps = episodes = 0
        over = True
        for kind, *words in walk:
            if kind == "step":
                rule, location, reward, terminated, truncated, latency = words
                observation, *paid, info = env.step((int(rule), int(location)))
                self.assertEqual(paid, [float.fromhex(reward), terminated == "1", truncated == "1"])
                self.assertEqual(info["cost_after"]["latency_us"], float.fromhex(latency))
                steps, ended = steps + 1, paid[1] or paid[2]
            else:
                if over:
                    observation, _ = env.reset()
                    episodes, ended = episodes + 1, False
                self.assertEqual(digests(observation), dict(zip(words[::2], words[1::2])), f"after {steps} steps")
                over = ended
        self.assertEqual(episodes, 4)
        self.assertGreater(steps, 20)

    def test_are_the_same_in_another_instance_and_after_a_reset(self):
        one, other = support.make(horizon=15), support.make(horizon=15)
        rng = np.random.default_rng(SEED)
        first, _ = one.reset(seed=SEED)
        for episode in range(3):
            a, told_a = one.reset(seed=SEED)
            b, told_b = other.reset(seed=SEED)
            self.assertEqual(told_a, told_b)
            self.assertEqual(support.differences(a, first), [])
            over = False
            while not over:
                action = support.random_action(a, rng)
                a, *rest_a = one.step(action)
                b, *rest_b = other.step(action)
                self.assertEqual(support.differences(a, b), [])
                self.assertEqual(rest_a, rest_b)
                over = rest_a[1] or rest_a[2]

    def test_through_synthetic_graphs_reach_their_end(self):
        env = support.regraft_gym.RewriteEnv("synthetic:4:2:1:0")
        observation, _ = env.reset(seed=SEED)
        rng = np.random.default_rng(SEED)
        over = False
        while not over:
            observation, _, terminated, truncated, _ = env.step(support.random_action(observation, rng))
            over = terminated or truncated
        self.assertTrue(terminated)


class Observations(unittest.TestCase):
    def test_are_the_callers_own(self):
        env = support.make()
        kept, _ = env.reset()
        saved = copy.deepcopy(kept)
        later = env.step(support.action_of(kept, 0))[0]
        self.assertNotEqual(support.differences(kept, later), [])
        self.assertEqual(support.differences(kept, saved), [])
        kept["location_counts"][:] = 0  # is nothing to the environment
        later["location_counts"][:] = 0
        self.assertGreater(env.location_masks().sum(), 1)
        last = env.step((env.noop, 0))[0]
        del env
        self.assertEqual(last["globals"].shape, (8,))

    def test_lie_in_their_space_along_a_walk(self):
        for model in ("squeezenet1_1", "nasrnn"):
            env = support.make(model)
            observation, _ = env.reset()
            rng = np.random.default_rng(SEED)
            for _ in range(5):
                self.assertIn(observation, env.observation_space)
                observation = env.step(support.random_action(observation, rng))[0]

    def test_name_candidates_and_masks_alike(self):
        env = support.make("nasrnn", locations=7)
        observation, _ = env.reset()
        rng = np.random.default_rng(SEED)
        over = False
        while not over:
            candidates, masks = observation["candidates"], env.location_masks()
            self.assertEqual(masks.shape, (env.noop + 1, 7))
            legal = np.zeros_like(masks)
            legal[candidates["rules"], candidates["locations"]] = True
            np.testing.assert_array_equal(masks, legal)
            np.testing.assert_array_equal(masks.sum(axis=1), observation["location_counts"])
            np.testing.assert_array_equal(masks.any(axis=1), observation["rule_mask"].astype(bool))
            np.testing.assert_array_equal(env.action_masks(), np.concatenate([masks.any(axis=1), masks.any(axis=0)]))
            offsets = candidates["offsets"].astype(int)
            self.assertEqual((offsets[0], offsets[-1], len(offsets)), (0, len(candidates["matched"]), masks.sum() + 1))
            self.assertTrue((np.diff(offsets)[:-1] > 0).all(), "a match has nodes")
            self.assertEqual(np.diff(offsets)[-1], 0, "NO-OP has none")
            self.assertLess(candidates["matched"].max(initial=0), len(observation["graph"].nodes))
            observation, _, terminated, truncated, info = env.step(support.random_action(observation, rng))
            over = terminated or truncated

    def test_count_the_matches_beyond_the_limit(self):
        wide, narrow = support.make("nasrnn"), support.make("nasrnn", locations=1)
        (many, told), (few, less) = wide.reset(), narrow.reset()
        shown = len(many["candidates"]["rules"]) - len(few["candidates"]["rules"])
        self.assertGreater(shown, 0)
        self.assertEqual(less["truncated_locations"] - told["truncated_locations"], shown)

    def test_have_a_row_of_features_for_each_rule(self):
        env = support.make()
        features = env.rule_features()
        self.assertEqual(features.shape, (env.noop + 1, 64))
        self.assertEqual(len(set(env.rule_names)), env.noop)
        self.assertEqual(features[env.noop].tolist(), [0.0] * 63 + [1.0])


class Rewards(unittest.TestCase):
    def play(self, reward):
        env = support.make("nasrnn", reward=reward, horizon=20)
        observation, start = env.reset()
        rng = np.random.default_rng(SEED)
        total, over, costs = 0.0, False, [start["cost"]["latency_us"]]
        while not over:
            action = support.random_action(observation, rng)
            observation, paid, over, truncated, info = env.step(action)
            self.assertIs(truncated, False)
            self.assertEqual(info["rule"], env.rule_names[action[0]])
            self.assertEqual(info["cost_before"]["latency_us"], costs[-1])
            costs.append(info["cost_after"]["latency_us"])
            self.assertAlmostEqual(info["cost_best"]["latency_us"], min(costs), delta=1e-8 * costs[0])
            total += paid
        return total, costs

    def test_of_an_episode_add_up_to_its_relative_improvement(self):
        for reward in ("incremental", "terminal", "detailed"):
            total, costs = self.play(reward)
            self.assertAlmostEqual(total, (costs[0] - costs[-1]) / costs[0], places=10, msg=reward)
        self.assertGreater(len(set(costs)), 5)
        total, costs = self.play("best")
        self.assertAlmostEqual(total, (costs[0] - min(costs)) / costs[0], places=10)

    def test_are_zero_for_noop_which_ends_the_episode(self):
        env = support.make()
        env.reset()
        _, paid, terminated, truncated, info = env.step((env.noop, 0))
        self.assertEqual((paid, terminated, truncated, info["rule"], info["invalid"]), (0.0, True, False, "NO-OP", ""))


class Horizons(unittest.TestCase):
    def test_terminate_or_truncate(self):
        for mode in ("terminate", "truncate"):
            env = support.make(horizon=2, horizon_mode=mode)
            observation, _ = env.reset()
            observation, _, *ended, _ = env.step(support.action_of(observation, 0))
            self.assertEqual(ended, [False, False])
            _, _, *ended, _ = env.step(support.action_of(observation, 0))
            self.assertEqual(ended, [mode == "terminate", mode == "truncate"])


class InvalidActions(unittest.TestCase):
    def test_change_nothing_cost_the_penalty_and_say_why(self):
        env = support.make(invalid_penalty=0.25)
        before, _ = env.reset()
        counts = before["location_counts"]
        shut = int(np.flatnonzero(counts == 0)[0])
        wrong = [(env.noop + 1, 0), (-1, 0), (2**70, 0), (shut, 0), (env.noop, 1), (0, -1), (0, 2**32), (0, 2**70)]
        wrong += [np.array([rule, count]) for rule, count in enumerate(counts) if count][:20]
        for steps, action in enumerate(wrong, 1):
            after, paid, terminated, truncated, info = env.step(action)
            self.assertEqual((paid, terminated, truncated, info["rule"]), (-0.25, False, False, ""), action)
            unknown = not 0 <= int(action[0]) <= env.noop
            self.assertEqual(info["invalid"],
                             "there is no such rule" if unknown else "the rule has no such location", action)
            self.assertEqual(info["cost_before"], info["cost_after"])
            self.assertEqual(support.differences(before, after), ["globals"], "it costs a step, which is seen")

    def test_may_be_drawn_from_the_space(self):
        env = support.make(horizon=1000)
        env.action_space.seed(SEED)
        env.reset()
        reasons = {bool(env.step(env.action_space.sample())[-1]["invalid"]) for _ in range(200)}
        self.assertIn(True, reasons)


if __name__ == "__main__":
    unittest.main()
