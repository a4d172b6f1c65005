"""Efforts mean different things on different robots: with gravity, without it, motor currents."""

from __future__ import annotations

from typing import Literal

MeasuredEffort = Literal["raw", "gravity_compensated", "external"]
"""What joint_states gives: all that the joint exerts; that without gravity; or what the surroundings exert."""
CommandEffort = Literal["raw", "gravity_compensated"]
"""What an effort command is to be: all that the joint exerts, or that without gravity, which the robot adds itself."""


def total_effort(
    kind: MeasuredEffort,
    gain: list[float],
    measured: list[float],
    expected: tuple[float, ...],
    gravity: tuple[float, ...],
) -> list[float]:
    """What the joints exert in N m or N, in all, from what the driver measures.

    Args:
        kind: what the driver measures.
        gain: from its unit to N m or N.
        measured: its numbers.
        expected: the efforts of the model, N m or N.
        gravity: that part of them which carries the weight.
    """
    efforts = [k * value for k, value in zip(gain, measured)]
    if kind == "gravity_compensated":
        return [e + g for e, g in zip(efforts, gravity)]
    if kind == "external":
        return [e + x for e, x in zip(efforts, expected)]
    return efforts
