"""What is known about the positions of one layer."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from posenc._checks import Layout
from posenc.scaling import Rope

__all__ = ["PositionScheme"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PositionScheme:
    """What one layer of a model does about positions.

    Attributes
    ----------
    kind : str
        "rope", "alibi", "learned", "sinusoidal", "relative-bias" or "none".
    model_type : str
        Type of the text model; empty if the file does not tell.
    rope : Rope or None
        Frequencies and attention factor; None without rotation.
    unscaled : ndarray of float64 or None
        Frequencies before any scaling, one for each of `rope`.
    method : str or None
        Scaling that is really used, such as "default" or "yarn".
    base : float or None
        Base of the frequencies before scaling.
    rotary_width : int
        Number of components that belong to a pair; 0 without rotation.
    head_width : int or None
        Width of a query, where it is known.
    layout : {"interleaved", "half-split"} or None
        None if the model type is not known.
    softmax_factor : float
        Number that multiplies all scores besides the attention factor.
    trained_length : int or None
        Length that the scaling starts from, in positions.
    max_length : int or None
        Length the model is declared for, in positions.
    layer : int, str or None
        What the answer was asked for.
    layer_type : str or None
        Layer type that the answer is for.
    layer_types : tuple of str
        Type of each layer; empty if not known.
    turning_layers : tuple of bool
        Whether each layer rotates; empty if not known.
    details : mapping
        Numbers of the kinds without rotation, such as heads or rows.
    notes : tuple of str
        Every assumption that was made, and everything suspicious.
    """

    kind: str
    model_type: str
    rope: Rope | None = None
    unscaled: NDArray[np.float64] | None = None
    method: str | None = None
    base: float | None = None
    rotary_width: int = 0
    head_width: int | None = None
    layout: Layout | None = None
    softmax_factor: float = 1.0
    trained_length: int | None = None
    max_length: int | None = None
    layer: int | str | None = None
    layer_type: str | None = None
    layer_types: tuple[str, ...] = ()
    turning_layers: tuple[bool, ...] = ()
    details: Mapping[str, int | float | str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
