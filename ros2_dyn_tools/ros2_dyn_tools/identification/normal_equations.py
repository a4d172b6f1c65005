# SPDX-License-Identifier: Apache-2.0
"""Normal equations of all columns, joint by joint and part by part: all that a fit needs of motions of any length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ros2_dyn.dynamics.presliding import stretches
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.identification.columns import (
    DISTANCES,
    TILT,
    body_columns,
    friction_columns,
    loading,
    parameter_columns,
    supported,
)
from ros2_dyn_tools.identification.parts import TEST
from ros2_dyn_tools.recording.effort_filter import EffortFilter
from ros2_dyn_tools.recording.signals import EvenMotion, zero_phase

BLOCK = 4096
"""States that are filtered at a time."""


class JointEquations(NamedTuple):
    """The normal equations of one joint's effort in one part of the motions.

    Columns are the inertial parameters of the bodies that the joint moves, the tilt, the terms of the drives that load
    it, and the measured effort.
    """

    gram: Array
    """Products of the columns, summed over states, shape (p, p)."""
    states: int
    """Number of states."""

    def __add__(self, other: JointEquations) -> JointEquations:  # type: ignore[override]
        """Return those of both parts."""
        return JointEquations(self.gram + other.gram, self.states + other.states)

    def mean_square(self, columns: Sequence[int], parameters: Array) -> float:
        """Return the mean square of measured effort less that of some columns times parameters."""
        error = np.zeros(len(self.gram))
        error[list(columns)], error[-1] = -parameters, 1.0
        return max(float(error @ self.gram @ error), 0.0) / max(self.states, 1)


Equations = list[list[JointEquations]]
"""Those of every part, and in it of every joint."""


def normal_equations(
    model: RobotModel,
    motions: Sequence[EvenMotion],
    parts: Sequence[Array],
    filters: Sequence[EffortFilter],
    *,
    gravity: Array,
    loaded: RobotModel | None = None,
    band: float | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> list[Equations]:
    """Return the equations behind each of some filters.

    Args:
        model: the robot.
        motions: at equal steps.
        parts: for each motion, the part that each of its states belongs to, as of `parts_of`, shape (m,).
        filters: candidates for the driver's filter.
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,).
        loaded: the robot whose gravity efforts load-dependent friction depends on, if another one.
        band: cut-off of a zero-phase filter that measured and modelled efforts pass in addition, Hz; None for none.
        progress: is told the share that is done.
    """
    bodies = [supported(model, joint) for joint in range(model.n)]
    total: list[Equations] = [[[] for _ in range(TEST + 1)] for _ in filters]
    margin_time = max([3.0 / band if band else 0.0, *(f.memory for f in filters)])
    done, states = 0, sum(len(motion.t) for motion in motions)
    for motion, part in zip(motions, parts):
        elements = stretches(motion.q @ model.drives.coupling.T, DISTANCES)
        effort = zero_phase(motion.effort, band, motion.step) if band else motion.effort
        margin = int(margin_time / motion.step)
        for start in range(0, len(part), BLOCK):
            end = min(start + BLOCK, len(part))
            first, last = max(start - margin, 0), min(end + margin, len(part))
            around, core = slice(first, last), slice(start - first, end - first)
            piece = EvenMotion(*(values[around] for values in motion))
            Y = body_columns(model, piece, gravity)
            friction = friction_columns(loaded or model, piece, elements[around], gravity)
            for joint in range(model.n):
                keep = [*parameter_columns(bodies[joint]), *range(Y.shape[-1] - TILT, Y.shape[-1])]
                terms = [model.drives.coupling[i, joint] * friction[:, i] for i in loading(model, joint)]
                raw = np.concatenate([Y[:, joint, keep], *terms], axis=-1)
                if band:
                    raw = zero_phase(raw, band, motion.step)
                for equations, effort_filter in zip(total, filters):
                    columns = effort_filter.apply(raw, motion.step)[core]
                    _add(equations, joint, np.column_stack([columns, effort[start:end, joint]]), part[start:end])
            done += end - start
            progress(done / states)
    return total


def _add(equations: Equations, joint: int, columns: Array, part: Array) -> None:
    """Add the rows of some states to the equations of the parts that these belong to."""
    for k, of_part in enumerate(equations):
        rows = columns[part == k]
        new = JointEquations(rows.T @ rows, len(rows))
        if joint < len(of_part):
            of_part[joint] = of_part[joint] + new
        else:
            of_part.append(new)
