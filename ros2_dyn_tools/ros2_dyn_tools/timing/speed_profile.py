# SPDX-License-Identifier: Apache-2.0
"""s(t) along a path: the speed at the points of a grid as a function of time; smoothed and slowed where needed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ros2_dyn.model.spatial import Array


class PathMotion(NamedTuple):
    """s and its derivatives by time at m times, each of shape (m,)."""

    s: Array
    sd: Array
    sdd: Array
    sddd: Array


class SpeedProfile(NamedTuple):
    """Motion along a path from rest to rest.

    Smoothed, s(t) is the moving average of the given one over a window: the same path, and an acceleration without
    jumps. Slowed, it is the same function of a time that runs more slowly.
    """

    curve: Any
    """s(t) with constant accelerations, a PPoly that goes on at rest after the end."""
    given_duration: float
    """Duration of that, s."""
    window: float = 0.0
    """Width of the moving average, s; 0: none."""
    slowness: float = 1.0
    """Factor of all times."""

    @classmethod
    def of(cls, grid: Array, speed: Array) -> SpeedProfile:
        """Return the motion with speeds sd (N + 1,) at values of s (N + 1,), and constant acceleration between them."""
        from scipy.interpolate import PPoly

        steps = np.diff(grid)
        durations = 2 * steps / (speed[1:] + speed[:-1])
        t = np.concatenate([[0.0], np.cumsum(durations)])
        half = (speed[1:] ** 2 - speed[:-1] ** 2) / (4 * steps)  # u / 2
        T = float(t[-1])
        breaks = np.concatenate([[-1e3 - T], t, [2e3 + 2 * T]])
        coefficients = np.array(
            [[0.0, *half, 0.0], [0.0, *speed[:-1], 0.0], [grid[0], *grid[:-1], grid[-1]]],
        )
        return cls(PPoly(coefficients, breaks), T)

    @property
    def duration(self) -> float:
        """Time that the motion takes, s."""
        return self.slowness * (self.given_duration + self.window)

    def at(self, t: Array) -> PathMotion:
        """Return the motion at times t (m,), s, before its end. Jerks are infinite unless it is smoothed."""
        k, w, curve = self.slowness, self.window, self.curve
        if w == 0:
            s, sd, sdd = (curve(t / k, order) / k**order for order in range(3))
            return PathMotion(s, sd, sdd, np.full_like(s, np.inf))
        late, early = t / k, t / k - w
        integral = curve.antiderivative()
        s = (integral(late) - integral(early)) / w
        sd, sdd, sddd = ((curve(late, i) - curve(early, i)) / w / k ** (i + 1) for i in range(3))
        return PathMotion(s, sd, sdd, sddd)
