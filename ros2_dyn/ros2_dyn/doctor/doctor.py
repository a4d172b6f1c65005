"""The diagnosis of one recording of one robot."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_dyn.doctor import delay, effort_gain, effort_meaning, joint_order, mounting, payload
from ros2_dyn.doctor.degrees import in_radians
from ros2_dyn.doctor.diagnosis import CODES, Diagnosis, Note
from ros2_dyn.doctor.evidence import THOROUGH
from ros2_dyn.doctor.hypothesis import Hypothesis
from ros2_dyn.doctor.judge import Judge
from ros2_dyn.doctor.samples import take_samples
from ros2_dyn.doctor.search import QUICK_SAMPLES, THOROUGH_SAMPLES, certain, search
from ros2_dyn.errors import InputError
from ros2_dyn.estimation.recording import Recording
from ros2_dyn.model import RobotModel

MODULES = (joint_order, effort_meaning, effort_gain, mounting, payload, delay)


class Report(NamedTuple):
    """What is wrong, and what else is worth knowing."""

    findings: list[Diagnosis]
    """In the order of `CODES`; `ok` alone where nothing is wrong."""
    notes: list[Note]
    hypothesis: Hypothesis


def diagnose(model: RobotModel, recording: Recording) -> Report:
    """Return what is wrong with a recording, or with the model, or with how they are put together.

    Args:
        model: the robot; all joints have one degree of freedom.
        recording: of its motion; velocities may be NaN.

    Raises:
        InputError: the recording is too short or has another number of joints, or a joint has several degrees of freedom.
    """
    several = [joint.name for joint in model.joints if joint.dof > 1]
    if several:
        raise InputError("model", f"joint '{several[0]}' has several degrees of freedom: choose the joints of the arm")
    if recording.q.shape[1:] != (model.n,):
        raise InputError("recording", f"expected {model.n} joints, got {recording.q.shape[1:]}")
    if not (np.all(np.isfinite(recording.q)) and np.all(np.isfinite(recording.effort))):
        raise InputError("recording", "positions and efforts are needed, and some are not finite")
    recording, found = in_radians(model, recording)
    judge = Judge(model, take_samples(recording), QUICK_SAMPLES)
    hypothesis = search(judge)
    judge = judge.with_doubts(THOROUGH_SAMPLES, THOROUGH)
    hypothesis, evidence = certain(judge, hypothesis)
    without_model = judge.score_without_model() - judge.score(hypothesis)
    if without_model > 0:
        found.append(effort_meaning.external_only(without_model))
        hypothesis = Hypothesis.nothing_wrong(model.n)
    else:
        found += [each for module in MODULES for each in module.diagnose(judge, hypothesis, evidence)]
    found = found or [Diagnosis("ok", None, None, 0.9, "", "")]
    return Report(sorted(found, key=lambda each: CODES.index(each.code)), [], hypothesis)
