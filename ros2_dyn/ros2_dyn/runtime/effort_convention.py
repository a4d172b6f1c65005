# SPDX-License-Identifier: Apache-2.0
"""Efforts mean different things on different robots: with gravity, without it, of position servos, motor currents."""

from __future__ import annotations

from typing import Literal

from ros2_dyn.control.command_settings import Convention, robot_adds_friction

MeasuredEffort = Literal["raw", "gravity_compensated", "external"]
"""What joint_states gives: all that the joint exerts; that without gravity; or what the surroundings exert."""


def total_effort(
    kind: MeasuredEffort,
    measured: list[float],
    expected: tuple[float, ...],
    gravity: tuple[float, ...],
) -> list[float]:
    """What the joints exert in N m or N, in all, from what the driver measures.

    Args:
        kind: what the driver measures.
        measured: its numbers, N m or N.
        expected: the efforts that the model expects without external ones, N m or N.
        gravity: that part of them which carries the weight.
    """
    if kind == "gravity_compensated":
        return [tau + g for tau, g in zip(measured, gravity)]
    if kind == "external":
        return [x - external for external, x in zip(measured, expected)]
    return measured


def own_effort(kind: Convention, gravity: tuple[float, ...], friction: tuple[float, ...]) -> tuple[float, ...] | None:
    """Return the effort that the robot adds to its commands itself, N m or N; None: nothing."""
    if robot_adds_friction(kind):
        return tuple(g + f for g, f in zip(gravity, friction))
    return None if kind == "raw" else gravity
