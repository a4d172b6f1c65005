# SPDX-License-Identifier: Apache-2.0
"""The diagnosis of one recording of one robot."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.model import RobotModel
from ros2_dyn_tools.doctor import (
    delay,
    effort_gain,
    effort_meaning,
    friction_notes,
    mounting,
    swapped_joints,
    unknown_payload,
    unknown_spring,
)
from ros2_dyn_tools.doctor.degrees import in_radians
from ros2_dyn_tools.doctor.diagnosis import CODES, Diagnosis, Note
from ros2_dyn_tools.doctor.effort_gain import heavy_notes
from ros2_dyn_tools.doctor.evidence import QUICK, THOROUGH
from ros2_dyn_tools.doctor.hypothesis import Hypothesis
from ros2_dyn_tools.doctor.judge import Judge
from ros2_dyn_tools.doctor.recorded_samples import take_samples
from ros2_dyn_tools.doctor.search import QUICK_SAMPLES, THOROUGH_SAMPLES, certain, search
from ros2_dyn_tools.doctor.usable import usable
from ros2_dyn_tools.recording.gate import gate, repeated_stamps
from ros2_dyn_tools.recording.recording import Recording

MODULES = (swapped_joints, effort_meaning, effort_gain, mounting, unknown_payload, unknown_spring, delay)


class Report(NamedTuple):
    """What is wrong, and what else is worth knowing."""

    findings: list[Diagnosis]
    """In the order of `CODES`; `ok` alone where nothing is wrong."""
    notes: list[Note]
    """About velocities, friction and what remains."""
    hypothesis: Hypothesis
    """The explanation that the findings were told from."""


def diagnose(model: RobotModel, recording: Recording, effort_gain: ArrayLike = 1.0) -> Report:
    """Return what is wrong with a recording, or with the model, or with how they are put together.

    Args:
        model: the robot; all joints have one degree of freedom.
        recording: of its motion; velocities may be NaN, and so may the efforts of some joints.
        effort_gain: what the efforts have to be multiplied with as far as that is known, shape (n,) or ();
            what is told of gains is about the product.

    Raises:
        InputError: the recording is too short, hardly moves, lacks efforts or has other joints, or a joint has several
            degrees of freedom.
    """
    as_recorded = recording
    recording, found = in_radians(model, usable(model, recording))
    recording = recording._replace(effort=recording.effort * np.asarray(effort_gain))
    samples = take_samples(recording)
    hypotheses = search(Judge(model, samples.thinned(2), QUICK_SAMPLES, QUICK))
    judge = Judge(model, samples, THOROUGH_SAMPLES, THOROUGH, effort_gain)
    hypothesis, evidence = certain(judge, hypotheses)
    checks = [*repeated_stamps(as_recorded.t), *gate(model, recording)]
    notes = [Note(each.subject, each.joint, each.told) for each in checks if not each.good]
    without_model = judge.score_without_model() - judge.score(hypothesis)
    if without_model > 0:
        return Report([*found, effort_meaning.external_only(without_model)], notes, Hypothesis.nothing_wrong(model.n))
    found += [each for module in MODULES for each in module.diagnose(judge, hypothesis, evidence)]
    found.sort(key=lambda each: CODES.index(each.code))
    notes += [*heavy_notes(hypothesis), *unknown_payload.notes(hypothesis)]
    notes += friction_notes.notes(judge, hypothesis)
    return Report(found or [_ok(judge, hypothesis)], notes, hypothesis)


def _ok(judge: Judge, hypothesis: Hypothesis) -> Diagnosis:
    share = 1 - friction_notes.unexplained(judge, hypothesis)
    told = f"the model with friction explains {100 * share:.0f} % of the joints' efforts on average"
    return Diagnosis("ok", None, None, round(min(share, 0.99), 2), told, "")
