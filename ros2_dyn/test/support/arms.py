# SPDX-License-Identifier: Apache-2.0
"""Arms at one tick, for the tests of modes and their conditions."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace

import numpy as np

from ros2_dyn.control.arm import Arm
from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.command_settings import CommandSettings
from ros2_dyn.control.effort_limiter import CommandLimits
from ros2_dyn.control.position_limits import PositionLimits
from ros2_dyn.control.sampled_stability import SampledLoop


def arm_at(state: ArmState, now: float = 0.0, effort: float = 50.0, velocity: float = 100.0, **given) -> Arm:
    """Return an arm in a loop without delay, which lacks nothing that a mode needs.

    Args:
        state: the state.
        now: time, s.
        effort: largest efforts, N m or N.
        velocity: largest velocities, rad/s or m/s.
        given: fields of `Arm`.
    """
    n = len(state.q)
    names, wide = tuple(f"joint {i}" for i in range(n)), np.full(n, inf)
    target = SimpleNamespace(desired_at=now, in_base_axes=lambda q: np.zeros(6))
    desired = SimpleNamespace(q=state.q.tolist(), qd=[0.0] * n, qdd=[0.0] * n)
    usual = {
        "age": 0.0,
        "robot": SimpleNamespace(link_pose=lambda link, q: np.eye(4)),
        "commands": CommandSettings(),
        "limits": CommandLimits(names, np.full(n, effort), np.full(n, 10 * effort), np.full(n, velocity)),
        "positions": PositionLimits(names, -wide, wide, 0.1),
        "loop": SampledLoop(0.0, 0.0),
        "walls": (-wide, wide),
        "desired": desired,
        "desired_at": now,
        "wrench": target,
        "enable_age": 0.0,
    }
    return Arm(now=now, state=state, **(usual | given))
