"""The diagnosis of one recording of one robot."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_dyn.doctor import delay, effort_gain, effort_meaning, friction, joint_order, mounting, payload, velocity
from ros2_dyn.doctor.degrees import in_radians
from ros2_dyn.doctor.diagnosis import CODES, Diagnosis, Note
from ros2_dyn.doctor.evidence import QUICK, THOROUGH
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
    """About velocities, friction and what remains."""
    hypothesis: Hypothesis
    """The explanation that the findings were told from."""


def diagnose(model: RobotModel, recording: Recording) -> Report:
    """Return what is wrong with a recording, or with the model, or with how they are put together.

    Args:
        model: the robot; all joints have one degree of freedom.
        recording: of its motion; velocities may be NaN.

    Raises:
        InputError: the recording is too short, lacks efforts or has other joints, or a joint has several degrees of
            freedom.
    """
    several = [joint.name for joint in model.joints if joint.dof > 1]
    if several:
        raise InputError("model", f"joint '{several[0]}' has several degrees of freedom: choose the joints of the arm")
    if recording.q.shape[1:] != (model.n,):
        raise InputError("recording", f"expected {model.n} joints, got {recording.q.shape[1:]}")
    if not np.any(np.all(np.isfinite(recording.effort), axis=1)):
        raise InputError(
            "recording", "it has no efforts of all joints, from which all is told: see the driver's manual"
        )
    recording, found = in_radians(model, recording)
    samples = take_samples(recording)
    hypotheses = search(Judge(model, samples, QUICK_SAMPLES, QUICK))
    judge = Judge(model, samples, THOROUGH_SAMPLES, THOROUGH)
    hypothesis, evidence = certain(judge, hypotheses)
    notes = velocity.notes(model, recording)
    without_model = judge.score_without_model() - judge.score(hypothesis)
    if without_model > 0:
        return Report([*found, effort_meaning.external_only(without_model)], notes, Hypothesis.nothing_wrong(model.n))
    found += [each for module in MODULES for each in module.diagnose(judge, hypothesis, evidence)]
    found.sort(key=lambda each: CODES.index(each.code))
    notes += [*payload.notes(hypothesis), *friction.notes(judge, hypothesis)]
    return Report(found or [_ok(judge, hypothesis)], notes, hypothesis)


def _ok(judge: Judge, hypothesis: Hypothesis) -> Diagnosis:
    _, left = friction.split(judge, hypothesis)
    share = float(np.mean(friction.explained(judge, hypothesis, left)))
    told = f"the model with friction explains {100 * share:.0f} % of the joints' efforts on average"
    return Diagnosis("ok", None, None, round(min(share, 0.99), 2), told, "")
