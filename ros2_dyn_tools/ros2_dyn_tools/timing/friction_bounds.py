# SPDX-License-Identifier: Apache-2.0
"""Friction as linear bounds in x = sd^2, which is what a linear program over (sdd, sd^2) can hold.

Friction is a function F of the speed that is neither linear nor convex in x: Coulomb friction is constant, viscous
friction grows as the root of x, Stribeck's falls. So two lines above F and two lines below it are taken, all through
the friction at a guess of the speed. An effort that the lines allow is allowed with F at every speed of the range, and
nothing is lost at the guess: solving again with the found speed as the next guess never gives a slower timing.

The model's friction passes through zero within `transition_velocity`. A motor does not get past it by creeping, so that
friction which opposes the motion is taken as that of a joint that breaks away, at all lower speeds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.timing.effort_terms import EffortTerms

SAMPLES = 32
"""Number of speeds at which friction is evaluated, between 1e-4 of the highest and the highest."""


class Lines(NamedTuple):
    """Two lines ``value + slope (x - x_guess)`` for each point and joint; arrays of shape (m, n)."""

    value: Array
    left: Array
    """Slope of the line that bounds friction at lower speeds than the guess."""
    right: Array
    """Slope of the line that does so at higher speeds."""


class FrictionBounds(NamedTuple):
    """Lines that bound friction: it is below the higher one of `above`, and above the lower one of `below`."""

    x_guess: Array
    """Shape (m,)."""
    above: Lines
    below: Lines


def friction_bounds(terms: EffortTerms, highest: Array, guess: Array) -> FrictionBounds:
    """Return the bounds of friction at m points of a path.

    Args:
        terms: the efforts along the path.
        highest: the highest speed sd at each point, shape (m,).
        guess: speeds sd at which the bounds touch, above 0, shape (m,).
    """
    shares = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, SAMPLES)])
    sd = shares[:, None] * highest
    run = (sd * sd - guess * guess)[..., None]
    most = _lines(terms.opposing(sd, np.maximum), terms.opposing(guess, np.maximum), run)
    least = _lines(-terms.opposing(sd, np.minimum), -terms.opposing(guess, np.minimum), run)
    return FrictionBounds(guess * guess, most, Lines(*(-each for each in least)))


def _lines(samples: Array, value: Array, run: Array) -> Lines:
    """Return the lines above samples (k, m, n) at distances x - x_guess (k, m, 1), through the values (m, n) at 0."""
    left, right = run < -1e-12, run > 1e-12
    slopes = (samples - value) / np.where(left | right, run, 1.0)
    lowest = np.min(np.where(left, slopes, np.inf), axis=0)
    highest = np.max(np.where(right, slopes, -np.inf), axis=0)
    return Lines(value, *(np.where(np.isfinite(each), each, 0.0) for each in (lowest, highest)))
