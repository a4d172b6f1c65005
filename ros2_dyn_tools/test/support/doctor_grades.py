# SPDX-License-Identifier: Apache-2.0
"""What the doctor said of a recording against what was done to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from doctor_cases import that_has_to_be_told
from ros2_dyn.model import RobotModel
from ros2_dyn_tools.doctor import Diagnosis
from ros2_dyn_tools.doctor.effort_gain import UNSURE
from ros2_dyn_tools.doctor.evidence import THOROUGH
from ros2_dyn_tools.doctor.hypothesis import Hypothesis
from ros2_dyn_tools.doctor.judge import Judge
from ros2_dyn_tools.doctor.recorded_samples import take_samples
from ros2_dyn_tools.doctor.unknown_payload import moves
from ros2_dyn_tools.recording.recording import Recording
from wrong_recordings import Wrong

Code = tuple[str, "int | None"]
"""A code and the number of the joint, None where it is not about one."""


class Arm(NamedTuple):
    """What an untouched recording is like."""

    tool: float = 0.0
    """Mass, kg, that fits best at the tip, though the doctor does not tell it; negative where one lacks."""
    frictional: frozenset[int] = frozenset()
    """Joints whose efforts are friction for the most part."""


class Grade(NamedTuple):
    """How right some findings are."""

    done: set[Code]
    """What was done."""
    told: set[Code]
    """What of that is told."""
    missed: set[Code]
    """What of that is not told, though it has to be."""
    false: set[Code]
    """What is told and was not done."""
    errors: dict[Code, float]
    """Errors of what is told: see `UNITS`."""
    far: set[Code]
    """What is told with too large an error, and confidence."""


UNITS = {
    "gain": ("%", 25.0),
    "mounting": ("degrees", 10.0),
    "payload": ("kg", 0.7),
    "delay": ("ms", 20.0),
}
"""Units of the errors, and the greatest error that counts as right."""


def tool_at(model: RobotModel, recording: Recording) -> float:
    """Return the mass, kg, that fits best at the tip; negative where the description has too much there."""
    judge = Judge(model, take_samples(recording), 200, THOROUGH)
    right = Hypothesis.nothing_wrong(model.n)
    best = max([right, *moves(judge, right)], key=lambda each: float(np.sum(judge.joint_scores(each))))
    return best.payload[0] if best.payload else 0.0


def codes_of(model: RobotModel, findings: Sequence[Diagnosis]) -> dict[Code, Diagnosis]:
    """Return the findings by code and joint."""
    return {(x.code, None if x.joint is None else model.joint_names.index(x.joint)): x for x in findings}


def grade(model: RobotModel, what: Wrong, findings: Sequence[Diagnosis], arm: Arm) -> Grade:
    """Compare what was said with what was done.

    Args:
        model: the robot.
        what: done to the recording.
        findings: what the doctor said.
        arm: what the untouched recording is like.
    """
    said = codes_of(model, findings)
    expected, done = that_has_to_be_told(what, arm.frictional).codes(model.n), what.codes(model.n)
    exchanged = {model.joint_names[j] for j in what.swapped + what.swapped_efforts}
    names = {key for key, found in said.items() if key[0] == "joint_order" and set(found.value) != exchanged}
    right = set(said) - names
    errors = {
        key: _error(model, what, key, found, arm.tool) for key, found in said.items() if key in done and key[0] in UNITS
    }
    false = {key for key in set(said) - done if key[0] != "ok"} | names
    far = {key for key, error in errors.items() if abs(error) > UNITS[key[0]][1] and said[key].confidence > UNSURE}
    return Grade(done, right & done, expected - right - {("ok", None)}, false, errors, far)


def _error(model: RobotModel, what: Wrong, key: Code, found: Diagnosis, tool: float) -> float:
    code, joint = key
    if code == "gain":
        done = what.gain * (100 / model.effort_limit if what.percent else np.ones(1))
        alone = dict(what.gains)
        done = np.array([alone[joint]]) if joint is not None else done
        value = np.atleast_1d(found.value)  # of all joints where these are percent, their own gains included
        ratios = np.array([x * y - 1 for j, (x, y) in enumerate(zip(value, done)) if len(done) == 1 or j not in alone])
        return float(100 * ratios.flat[np.argmax(np.abs(ratios))])
    if code == "mounting":
        g, h = (np.array(each) / np.linalg.norm(each) for each in (found.value, what.gravity))
        return float(np.rad2deg(np.arccos(np.clip(g @ h, -1, 1))))
    if code == "payload":
        return float(found.value - tool - what.payload[0])
    return float(1e3 * (found.value - what.delay))
