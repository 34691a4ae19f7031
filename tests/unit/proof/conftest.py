"""What the tests of the proof kernel share."""

import pytest
import sympy

from posenc.proof import Derivation, DerivationError
from posenc.proof.comparison import disagreement


@pytest.fixture
def refuses():
    """Check that a step is refused, and by the proof itself: not only by its safety net."""

    def check(left, right, *assuming):
        left, right = (sympy.sympify(side) for side in (left, right))
        if getattr(left, "shape", (1, 1)) == getattr(right, "shape", (1, 1)):
            assert disagreement(left, right, assuming) is not None
        with pytest.raises(DerivationError) as caught:
            Derivation(left, assuming=assuming).step(right, "why")
        return caught.value

    return check
