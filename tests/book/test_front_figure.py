"""The front page's figure is what its script draws, and shows what it says."""

import numpy as np
import pytest

import front_figure


def test_stored_figure_is_current():
    assert front_figure.TARGET.read_text(encoding="utf-8") == front_figure.front_figure()


def test_only_turning_makes_diagonals():
    rng = np.random.default_rng(1)
    q, k = rng.normal(size=(2, front_figure.WIDTH))
    turned = front_figure.turned(q, k)
    assert turned[:-1, :-1] == pytest.approx(turned[1:, 1:], abs=1e-12)
    added = front_figure.added(q, k, rng.normal(size=(front_figure.WIDTH,) * 2))
    assert np.abs(added[:-1, :-1] - added[1:, 1:]).max() > 0.5


def test_cells_cover_runs():
    mask = np.array([[True, True, False, True], [False, False, False, False]])
    assert front_figure.cells(mask) == "M0 0h24v12h-24zM36 0h12v12h-12z"
