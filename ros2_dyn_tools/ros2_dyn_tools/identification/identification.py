# SPDX-License-Identifier: Apache-2.0
"""What an identification found, and how well it predicts what it was not fitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ros2_dyn.dynamics.inputs import STANDARD_GRAVITY
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.identification.parts import Split
from ros2_dyn_tools.identification.settings import FitSettings


@dataclass(frozen=True)
class Options:
    """What an identification is told."""

    cutoff: float = 10.0
    """Cut-off frequency of the zero-phase filter of positions and velocities, Hz."""
    band: float | None = None
    """Cut-off frequency of a zero-phase filter of measured and modelled efforts, before they are compared, Hz."""
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    """Acceleration of free fall in the base frame, m/s^2."""
    split: Split = Split()  # noqa: RUF009  (a tuple)
    """What is fitted, and what is kept for the test."""
    tilt: bool = True
    """Whether the base may be found to be tilted."""
    longest_search: float = 300.0
    """Length of what settings are chosen on, s; the fit itself takes all of the fit part."""


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error."""

    name: str
    value: float
    error: float

    @property
    def told(self) -> bool:
        """Whether the data tell it from zero, at two standard errors."""
        return abs(self.value) > 2 * self.error


@dataclass(frozen=True, eq=False)
class Identification:
    """The result of `identify`. Errors are root mean squares, N m or N, shape (n,)."""

    model: RobotModel
    """The robot with the bodies, the friction and the rotors that were found."""
    gravity: Array
    """Acceleration of free fall in the base frame, m/s^2, shape (3,): tilted, if the base was found to be."""
    settings: FitSettings
    """How it was fitted."""
    options: Options
    """What it was told."""
    before: Array
    """Errors of the description in the test part: its bodies, without friction."""
    fitted: Array
    """Errors in the fit part."""
    held_out: Array
    """Errors in folds of the fit part that were predicted by the others: what the settings were chosen by."""
    tested: Array
    """Errors in the test part, NaN where there is none."""
    base: tuple[Estimate, ...]
    """Base inertial parameters, in kg, kg m and kg m^2."""
    joints: Mapping[str, tuple[Estimate, ...]]
    """Friction and motor of each joint."""
    retraced: float
    """Share of the test part that is near to what the fit part went through in position and velocity; NaN for none."""
    mended: tuple[str, ...]
    """Links whose bodies in the description cannot exist; the divergence is from the nearest that can."""
    seconds: tuple[float, float]
    """Length of the fit part and of the test part, s."""
    rate: float
    """Sampling rate of the motion that it was fitted to, Hz."""

    def parameters(self, effort_gain: Sequence[float] | None) -> dict[str, Any]:
        """Return parameters of the node besides friction and rotors; a filter without delay is none of a driver.

        Args:
            effort_gain: what the driver's efforts were multiplied with, shape (n,); None for nothing.
        """
        values: dict[str, Any] = {}
        if effort_gain is not None and any(gain != 1.0 for gain in effort_gain):
            values["states.effort_gain"] = [float(gain) for gain in effort_gain]
        if self.settings.effort_filter.kind == "first_order":
            values["states.effort_filter_cutoff"] = self.settings.effort_filter.cutoff
        if tuple(self.gravity) != STANDARD_GRAVITY:
            values["robot.gravity"] = self.gravity.tolist()
        return values
