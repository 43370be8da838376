"""PyTorch's adapters beside ONNX's reference, where onnx2pytorch is installed."""

import pathlib
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).parents[3] / "configs/experiments"))
MODEL = """<ir_version: 8, opset_import: ["": 17]> sized (float[n, 3, 4] x) => (float[m, 4] y, float[n, 3, 4] z)
<float[3] s = {1.0, 2.0, 3.0}> {
  z = BatchNormalization<training_mode = 0>(x, s, s, s, s)
  last = Shape<start = 2>(x)
  others = Constant<value_ints = [-1]>()
  sizes = Concat<axis = 0>(others, last)
  y = Reshape(z, sizes)
}"""


class Torch(unittest.TestCase):
    def test_is_exact(self):
        try:
            import torch_compile
            import torch_eager
        except ImportError as missing:
            self.assertEqual(missing.name, "onnx2pytorch")
            self.skipTest(missing)
        import numpy
        from onnx import parser, reference, save

        model, x = parser.parse_model(MODEL), numpy.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")
        expected = reference.ReferenceEvaluator(model).run(None, {"x": x})
        with tempfile.NamedTemporaryFile() as file:
            save(model, file.name)
            for adapter in torch_eager, torch_compile:
                for one, other in zip(adapter.load(file.name, {"x": x}, 1)(), expected, strict=True):
                    numpy.testing.assert_allclose(one, other, 1e-5)


if __name__ == "__main__":
    unittest.main()
