"""A result of a peer beside the call of posenc that must give it."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc.attention import softmax


@dataclass(frozen=True)
class Call:
    """What a peer computed, and how posenc is asked for the same."""

    name: str
    peer: str
    """Package, module and function or class that made `result`."""
    function: str
    """Dotted name in posenc."""
    arguments: Mapping[str, Any]
    result: np.ndarray
    weights: bool = False
    """Whether the peer gives weights, softmax of the scores that posenc gives."""

    def ours(self, **changes: Any) -> np.ndarray:
        """Return what posenc gives, with some arguments changed."""
        module, _, function = self.function.rpartition(".")
        result = getattr(importlib.import_module(module), function)(**{**self.arguments, **changes})
        return softmax(result) if self.weights else result
