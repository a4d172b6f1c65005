"""Friction as linear bounds in x = sd^2, which is what a linear program over (sdd, sd^2) can hold.

Friction is a function F of the speed that is neither linear nor convex in x: Coulomb friction is constant, viscous
friction grows as the root of x, Stribeck's falls. So two lines above F and two lines below it are taken, all through
the friction at a guess of the speed. An effort that the lines allow is allowed with F at every speed of the range, and
nothing is lost at the guess: solving again with the found speed as the next guess never gives a slower timing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn.timing.effort_terms import EffortTerms

SAMPLES = 32
"""Number of speeds at which friction is evaluated, between 1e-4 of the highest and the highest."""


class FrictionBounds(NamedTuple):
    """Lines ``value + slope (x - x_guess)``: F is below the larger two at each x, and above the smaller two."""

    x_guess: Array
    """Shape (m,)."""
    value: Array
    """Friction at the guess, shape (m, n)."""
    above: tuple[Array, Array]
    """Slopes of the lines above, each of shape (m, n)."""
    below: tuple[Array, Array]
    """Slopes of the lines below."""


def friction_bounds(terms: EffortTerms, highest: Array, guess: Array) -> FrictionBounds:
    """Return the bounds of friction at m points of a path.

    Args:
        terms: the efforts along the path.
        highest: the highest speed sd at each point, shape (m,).
        guess: speeds sd at which the bounds touch, above 0, shape (m,).
    """
    sd = np.concatenate([np.zeros((1, len(highest))), np.geomspace(1e-4, 1.0, SAMPLES)[:, None] * highest])
    value = terms.friction(guess)
    rise = terms.friction(sd) - value
    run = (sd * sd - guess * guess)[..., None]
    safe = np.where(np.abs(run) < 1e-12, 1.0, run)
    slopes = rise / safe
    left, right = run < -1e-12, run > 1e-12

    def extreme(where: Array, largest: bool) -> Array:
        """Return the largest or the smallest slope to the samples on one side; zero where there are none."""
        worst = -np.inf if largest else np.inf
        found = (np.max if largest else np.min)(np.where(where, slopes, worst), axis=0)
        return np.where(np.isfinite(found), found, 0.0)

    above = extreme(left, False), extreme(right, True)
    below = extreme(left, True), extreme(right, False)
    return FrictionBounds(guess * guess, value, above, below)
