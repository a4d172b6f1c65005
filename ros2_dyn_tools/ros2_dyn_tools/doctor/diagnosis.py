# SPDX-License-Identifier: Apache-2.0
"""What the doctor says."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

CODES = (
    "degrees",
    "joint_order",
    "external_only",
    "gravity_compensated",
    "sign",
    "gain",
    "mounting",
    "payload",
    "spring",
    "delay",
    "ok",
)
"""Codes of what may be wrong, in the order in which it is told, and `ok`."""
Value = float | str | list[float] | list[str] | None


class Diagnosis(NamedTuple):
    """Something that is wrong, or that nothing is."""

    code: str
    """One of `CODES`."""
    joint: str | None
    """The joint; None: all of them, or the arm as a whole."""
    value: Value
    """What was found: see docs/doctor.md."""
    confidence: float
    """From 0 to 1."""
    evidence: str
    """The numbers that show it."""
    remedy: str
    """Parameter lines of the node, or the change of the robot description, that mend it."""


class Note(NamedTuple):
    """Something worth knowing that is not wrong."""

    subject: str
    """What it is about, such as `friction`."""
    joint: str | None
    """The joint; None: all of them."""
    text: str


def confidence(evidence: float) -> float:
    """Return the confidence, 0 to 0.99, of what a logarithm of odds speaks for."""
    return round(min(float(1.0 / (1.0 + np.exp(-0.1 * evidence))), 0.99), 2)


def numbers(values: object) -> str:
    """Return numbers of three digits as a YAML list, each with a decimal point: ROS 2 refuses a mixed list."""
    return str([float(f"{x:.3g}") + 0.0 for x in np.atleast_1d(np.asarray(values, dtype=float)).tolist()])
