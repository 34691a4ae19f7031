"""Calls of a function that may do anything."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc.diagnose._catalog import FAULTS
from posenc.diagnose._report import Evidence, Finding

Rotate = Callable[[NDArray[Any], NDArray[np.int64]], Any]


class Foreign:
    """Calls a foreign function, and keeps what it did wrong.

    Calling it with vectors (length, head_dim) and positions (length,) returns
    the result as float64, shape (*leading, length, head_dim), or None if there
    is nothing to work with. Each kind of fault is kept once, when first seen.
    """

    def __init__(self, rotate: Rotate, dtype: np.dtype[Any], leading: tuple[int, ...]) -> None:
        self._rotate = rotate
        self.dtype = dtype
        self.leading = leading
        self.findings: dict[str, Finding] = {}

    def __call__(
        self, vectors: NDArray[np.float64], positions: NDArray[np.int64]
    ) -> NDArray[np.float64] | None:
        x = np.broadcast_to(vectors.astype(self.dtype), (*self.leading, *vectors.shape)).copy()
        kept_x, kept_positions = x.copy(), positions.copy()
        try:
            # Warnings of the function are not the reader's concern, and must
            # not become errors that hide what it returns.
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                answer = self._rotate(x, positions)
        # Whatever the function raises is a finding, even an attempt to exit.
        except (Exception, SystemExit) as error:  # noqa: BLE001
            self._keep("raises", f"it raises {_text(error)}", vectors, positions)
            return None
        if not (np.array_equal(x, kept_x) and np.array_equal(positions, kept_positions)):
            which = "positions" if np.array_equal(x, kept_x) else "x"
            self._keep("mutates-input", f"it writes into {which}", vectors, kept_positions)
        return self._checked(answer, x, vectors, kept_positions)

    def _checked(
        self,
        answer: Any,
        x: NDArray[Any],
        vectors: NDArray[np.float64],
        positions: NDArray[np.int64],
    ) -> NDArray[np.float64] | None:
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                result = np.asarray(answer)
        except (Exception, SystemExit) as error:  # noqa: BLE001
            message = f"its {type(answer).__name__} cannot be read by NumPy: {_text(error)}"
            self._keep("result-conversion", message, vectors, positions)
            return None
        wanted = f"an array of shape {x.shape}, dtype {x.dtype}"
        if result.dtype.kind != "f" and result.dtype.name != "bfloat16":
            got = f"dtype {result.dtype}"
            message = f"it returns {got} for {x.dtype}"
            self._keep("result-dtype", message, vectors, positions, got, wanted)
            return None
        if result.shape != x.shape:
            got = f"shape {result.shape}"
            message = f"it returns {got} for {x.shape}"
            self._keep("result-shape", message, vectors, positions, got, wanted)
            return None
        if result.dtype != x.dtype:
            got = f"dtype {result.dtype}"
            message = f"it returns {got} for {x.dtype}"
            self._keep("result-dtype", message, vectors, positions, got, wanted)
        # A copy: the function may reuse the memory of its answer.
        numbers = result.astype(np.float64)
        if not np.isfinite(numbers).all():
            self._keep_not_finite(numbers, vectors, positions)
            return None
        return numbers

    def _keep_not_finite(
        self,
        numbers: NDArray[np.float64],
        vectors: NDArray[np.float64],
        positions: NDArray[np.int64],
    ) -> None:
        good = np.isfinite(numbers)
        row = int(np.argwhere(~good)[0][-2])
        components = good.reshape(-1, good.shape[-1])
        # 1 / 0 ** (2r / width) is infinite for every pair but the first.
        whole = components.all(axis=0)
        zero = whole.sum() == 2 < whole.size and not components[:, ~whole].any()
        name = "base-zero" if zero else "not-finite"
        message = "it returns numbers that are not finite" + (
            " in every pair but one, as a base of 0 does" if zero else ""
        )
        got = f"{(~good).sum()} numbers that are not finite"
        one = slice(row, row + 1)
        self._keep(name, message, vectors[one], positions[one], got, "finite numbers")

    def _keep(
        self,
        name: str,
        message: str,
        vectors: NDArray[np.float64],
        positions: NDArray[np.int64],
        got: str | None = None,
        wanted: str = "an array like x",
    ) -> None:
        x = tuple(vectors[0].tolist()) if len(vectors) else ()
        places = tuple(dict.fromkeys(positions.tolist()))
        evidence = Evidence(x, places, got or message, wanted)
        self.findings.setdefault(name, Finding(name, True, message, FAULTS[name], evidence))


def _text(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - an error of foreign code may not even print
        text = ""
    kind = type(error).__name__
    lines = text.strip().splitlines()
    return f"{kind}: {lines[0][:200]}" if lines else kind
