# SPDX-License-Identifier: Apache-2.0
"""States in the model's joint order, as they pass from stage to stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ros2_dyn.control.arm import DesiredState as DesiredState


class MeasuredState(NamedTuple):
    """A measured state in the model's joint order."""

    stamp: int
    """When it was measured, ns; when it arrived, where the message has no stamp."""
    q: list[float]
    """rad or m, shape (n,); continuous joints count their turns, though their driver may not."""
    qd: list[float]
    """rad/s or m/s, shape (n,)."""
    effort: list[float] | None = None
    """Measured effort, N m or N, shape (n,); None where the message does not give it for all joints."""
    measured_at: float = 0.0
    """When the oldest of its joints was measured, in the time of `now`, s."""
    joints: tuple[int, ...] = ()
    """Joints that the newest message holds."""
    problem: str = ""
    """Why no command may be based on it; empty where it fits the states before."""
    velocity_problem: str = ""
    """Why its positions and velocities do not fit, so that a mode has to stop.

    Where only velocities are wrong and the arm is commanded, they are rates of positions."""
    misplaced: Sequence[bool] = ()
    """Which of its positions are in doubt, too, so that nothing is held there, shape (n,); empty: none."""
    shown_qd: list[float] | None = None
    """The velocities nearest to `qd` that the positions allow, rad/s or m/s, (n,); None: nothing is known of that."""
    believed_q: list[float] | None = None
    """Of the newest state that fits the states before it, as its driver tells them, rad or m, (n,); None: none did."""


class SynchronizedState(NamedTuple):
    """A measured state, and the desired state that belongs to it; None without one that is young enough."""

    measured: MeasuredState
    desired: DesiredState | None
    desired_at: float = float("-inf")
    """When the newest desired state arrived, s."""
