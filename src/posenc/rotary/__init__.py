"""Rotary positions: queries and keys turn, plane by plane, with their position."""

from posenc.rotary.angles import phases
from posenc.rotary.axes import axial, mrope, mrope_axes
from posenc.rotary.gradients import score_frequency_gradient
from posenc.rotary.growth import xpos, xpos_decay
from posenc.rotary.layouts import layout_permutation, permute_projection
from posenc.rotary.turning import apply_phases, rotate, rotation

__all__ = [
    "apply_phases",
    "axial",
    "layout_permutation",
    "mrope",
    "mrope_axes",
    "permute_projection",
    "phases",
    "rotate",
    "rotation",
    "score_frequency_gradient",
    "xpos",
    "xpos_decay",
]
