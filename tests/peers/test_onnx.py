"""posenc.rotary against the operator of ONNX, and against ONNX Runtime's own older one."""

import numpy as np
import pytest
from operators import LAYOUTS, turn
from tolerances import assert_within, rotation_error

from posenc.absolute import frequencies
from posenc.rotary import rotate

rng = np.random.default_rng(5)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("width", [16, 8])
@pytest.mark.parametrize(
    ("domain", "evaluator"),
    [("com.microsoft", "runtime"), ("", "runtime"), ("", "reference")],
    ids=["onnxruntime-contrib", "onnxruntime-standard", "onnx-reference"],
)
def test_rotary_embedding(domain, evaluator, width, layout):
    x = rng.normal(size=(2, 4, 6, 16)).astype(np.float32)
    positions = np.array([[0, 1, 2, 30, 4000, 4095], [7, 7, 6, 0, 1, 1000]])
    turned = turn(x, positions, domain, evaluator, layout, width)
    places, speeds = positions[:, np.newaxis], frequencies(width)
    # The tables come from float64 angles, so that no error of an angle is allowed.
    bound = rotation_error(x, np.zeros_like(places), speeds, layout)
    assert_within(rotate(x, places, speeds, layout=layout), turned, bound)
    assert np.array_equal(turned[..., width:], x[..., width:])
    other = "interleaved" if layout == "half-split" else "half-split"
    with pytest.raises(AssertionError, match="differ by more than their bound"):
        assert_within(rotate(x, places, speeds, layout=other), turned, bound)
