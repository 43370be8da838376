"""What regraft_gym says to what cannot be meant: an exception with the product's words, and the environment lives on."""

import pathlib
import tempfile
import unittest

import support
from regraft_gym import OptionError, RegraftError, RewriteEnv


class Options(unittest.TestCase):
    def refused(self, text, **options):
        with self.assertRaises(OptionError) as caught:
            support.make(**options)
        self.assertIsInstance(caught.exception, (RegraftError, ValueError))
        self.assertIn(text, str(caught.exception))

    def test_that_there_are_not_are_refused_by_name(self):
        self.refused("there is no key 'workload.horizonn' (did you mean 'workload.horizon'?)", horizonn=3)
        self.refused("there is no key 'workload.render_mode'", render_mode="human")
        self.refused("there is no key 'workload.\"'", **{'"': 1})
        self.refused("first argument", models=["a.onnx"])

    def test_of_wrong_type_or_value_are_refused_with_what_is_allowed(self):
        self.refused("'workload.horizon' cannot be 0 (it is an integer, 1 to 10000)", horizon=0)
        for wrong in (2.5, None, 2**70, "3", [3], True, {}):
            self.refused("'workload.horizon' cannot be", horizon=wrong)
        self.refused("'workload.reward' cannot be \"most\" (it is a string, one of incremental", reward="most")
        self.refused("'workload.device' cannot be '\\ud800' (it is a string)", device="\ud800")
        self.refused("'workload.invalid_penalty' cannot be", invalid_penalty=float("nan"))
        self.refused("'workload.invalid_penalty' cannot be -1", invalid_penalty=-1)

    def test_that_need_a_runtime_are_refused(self):
        with self.assertRaisesRegex(RegraftError, "nothing is at hand to measure the reward with"):
            support.make(reward="measured")

    def test_name_files_that_there_must_be(self):
        for key in ("rules", "device"):
            with self.assertRaisesRegex(RegraftError, "nowhere: cannot be opened"):
                support.make(**{key: "nowhere"})


class Models(unittest.TestCase):
    def test_that_are_missing_or_broken_are_refused(self):
        with self.assertRaisesRegex(RegraftError, "nowhere.onnx: cannot be opened"):
            RewriteEnv("nowhere.onnx")
        with self.assertRaisesRegex(RegraftError, "no model is given"):
            RewriteEnv([])
        whole = support.unpacked_model("squeezenet1_1").read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (("empty", b""), ("cut", whole[: len(whole) // 2]), ("text", b"no model at all")):
                path = pathlib.Path(folder) / f"{name}.onnx"
                path.write_bytes(content)
                with self.assertRaisesRegex(RegraftError, f"{name}.onnx"):
                    RewriteEnv(path)

    def test_that_cannot_be_read_at_reset_leave_the_episode_as_it_is(self):
        env = RewriteEnv([support.unpacked_model("squeezenet1_1"), "nowhere.onnx"])
        observation, _ = env.reset()
        with self.assertRaisesRegex(RegraftError, "nowhere.onnx: cannot be opened"):
            env.reset(options={"model": "nowhere"})
        self.assertEqual(env.step(support.action_of(observation, 0))[-1]["invalid"], "")

    def test_that_are_not_in_the_list_are_refused(self):
        env = support.make()
        for wrong in ("resnet50", 1, -1, None, 0.0):
            with self.assertRaisesRegex(OptionError, "there is no model .*squeezenet1_1.onnx"):
                env.reset(options={"model": wrong})
        with self.assertRaisesRegex(OptionError, "there is no option 'modell'"):
            env.reset(options={"modell": 0})

    def test_are_written_only_where_a_model_and_a_folder_are(self):
        env = RewriteEnv("synthetic:4:2:1:0")
        env.reset()
        with self.assertRaisesRegex(RegraftError, "synthetic"):
            env.write_best("a.onnx")
        env = support.make()
        env.reset()
        with self.assertRaises(RegraftError):
            env.write_best("/nowhere/at/all.onnx")


class Steps(unittest.TestCase):
    def test_before_a_reset_and_after_the_end_are_refused(self):
        env = support.make()
        with self.assertRaisesRegex(RegraftError, "no episode has begun .call reset first"):
            env.step((0, 0))
        with self.assertRaisesRegex(RegraftError, "no episode has begun .call reset first"):
            env.action_masks()
        env.reset()
        env.step((env.noop, 0))
        with self.assertRaisesRegex(RegraftError, "the episode is over .call reset first"):
            env.step((env.noop, 0))
        env.reset()
        self.assertTrue(env.step((env.noop, 0))[2])

    def test_want_two_whole_numbers(self):
        env = support.make()
        env.reset()
        for wrong in (0, (1,), (1, 2, 3), (0.5, 0), None, "ab", {}):
            with self.assertRaisesRegex(ValueError, "two whole numbers"):
                env.step(wrong)
        self.assertTrue(env.step((env.noop, 0))[2])


if __name__ == "__main__":
    unittest.main()
