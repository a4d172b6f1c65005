"""What the doctor said of a recording against what was done to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from doctor_cases import may_be_untold
from ros2_dyn.doctor import Diagnosis
from ros2_dyn.model import RobotModel
from wrong_recordings import Wrong

Code = tuple[str, "int | None"]
"""A code and the number of the joint, None where it is not about one."""


class Grade(NamedTuple):
    """How right some findings are."""

    expected: set[Code]
    """What has to be told; `ok` where that is nothing."""
    missed: set[Code]
    """What of that is not told."""
    false: set[Code]
    """What is told and was not done."""
    errors: dict[Code, float]
    """Errors of what is told: see `UNITS`."""


UNITS = {
    "gain": ("%", 25.0),
    "mounting": ("degrees", 10.0),
    "payload": ("kg", 0.7),
    "delay": ("ms", 20.0),
}
"""Units of the errors, and the greatest error that counts as right."""


def codes_of(model: RobotModel, findings: Sequence[Diagnosis]) -> dict[Code, Diagnosis]:
    """Return the findings by code and joint."""
    return {(x.code, None if x.joint is None else model.joint_names.index(x.joint)): x for x in findings}


def grade(model: RobotModel, what: Wrong, findings: Sequence[Diagnosis], tool: float = 0.0) -> Grade:
    """Compare what was said with what was done.

    Args:
        model: the robot.
        what: done to the recording.
        findings: what the doctor said.
        tool: mass, kg, of what the doctor finds at the tip of the arm of the untouched recording, though it does not
            tell it: the arm may carry a tool, or lack that of the description.
    """
    said = codes_of(model, findings)
    expected, allowed = may_be_untold(what).codes(model.n), what.codes(model.n)
    exchanged = {model.joint_names[j] for j in what.swapped + what.swapped_efforts}
    names = {key for key, found in said.items() if key[0] == "joint_order" and set(found.value) != exchanged}
    right = set(said) - names
    errors = {
        key: _error(model, what, key, found, tool)
        for key, found in said.items()
        if key in allowed and key[0] in UNITS
    }
    missed = set() if expected == {("ok", None)} and right <= allowed else expected - right
    false = {key for key in set(said) - allowed if key[0] != "ok"} | names
    return Grade(expected, missed, false, errors)


def too_far(grade: Grade) -> set[Code]:
    """Return what is told with too large an error."""
    return {key for key, error in grade.errors.items() if abs(error) > UNITS[key[0]][1]}


def _error(model: RobotModel, what: Wrong, key: Code, found: Diagnosis, tool: float) -> float:
    code, joint = key
    if code == "gain":
        done = what.gain * np.array(100 / model.effort_limit if what.percent else 1.0)
        if joint is not None:
            done = dict(what.gains)[joint]
        ratios = np.array(found.value) * done - 1
        return float(100 * ratios.flat[np.argmax(np.abs(ratios))])
    if code == "mounting":
        g, h = (np.array(each) / np.linalg.norm(each) for each in (found.value, what.gravity))
        return float(np.rad2deg(np.arccos(np.clip(g @ h, -1, 1))))
    if code == "payload":
        return float(found.value - tool - what.payload[0])
    return float(1e3 * (found.value - what.delay))
