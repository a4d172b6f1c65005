# SPDX-License-Identifier: Apache-2.0
"""Friction and detector over recordings: made here, and of real arms where those are at hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from real_arms import REAL_ARMS, real_arm
from recordings import DRIVES, MODEL, TRUE, efforts, recording
from recordings import recorded_motion as motion
from robots import coupled
from ros2_dyn.errors import InputError
from ros2_dyn_tools.recording.detection import detect, observe, smallest_steps, step_response
from ros2_dyn_tools.recording.friction_identification import identify_friction
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.recording.signals import EvenMotion
from ros2_dyn_tools.report.contact_report import collision_report

pytest.importorskip("scipy", reason="SciPy is not installed")
K = 25.0


def with_step(report, start, effort):
    """Return external efforts with a step in them, N m or N, shape (n,): the observer is linear in efforts."""
    return report.residuals + step_response(report.recording.t - start, K)[:, None] * effort


def test_drives_are_found():
    """Those that the motion was made with."""
    fitted = identify_friction(MODEL, motion())
    for joint in fitted.joints:
        true = DRIVES[joint.name]
        found = [joint.dynamics.viscous, joint.dynamics.coulomb, joint.dynamics.armature]
        assert_allclose(found, [true.viscous, true.coulomb, true.armature], rtol=0, atol=0.15)
    with pytest.raises(InputError, match="at least 50"):
        identify_friction(MODEL, motion(seconds=0.1))


def test_drives_that_turn_with_two_joints_are_found():
    wrist = {"wrist_3_joint": {"wrist_2_joint": 0.7}}
    moved = motion()
    even = EvenMotion(moved.t, moved.q, moved.qd, np.gradient(moved.qd, moved.t, axis=0), moved.effort)
    fitted = identify_friction(coupled(MODEL, **wrist), recording(even, efforts(coupled(TRUE, **wrist), even)))
    for joint in fitted.joints:
        found = [joint.dynamics.viscous, joint.dynamics.coulomb, joint.dynamics.armature]
        true = DRIVES[joint.name]
        assert_allclose(found, [true.viscous, true.coulomb, true.armature], rtol=0, atol=0.15)


def test_drives_are_found_beside_a_gap():
    """The arm stood elsewhere after it; a motion from one side to the other was never made."""
    whole = motion()
    t = whole.t + np.where(whole.t > 8.0, 1.0, 0.0)
    kept = (whole.t < 6.0) | (whole.t > 8.0)
    gap = Recording(*(values[kept] for values in whole._replace(t=t)))
    for joint, other in zip(identify_friction(MODEL, gap).joints, identify_friction(MODEL, whole).joints):
        assert joint.dynamics.coulomb == pytest.approx(other.dynamics.coulomb, abs=0.15)
        assert joint.dynamics.armature == pytest.approx(other.dynamics.armature, abs=0.05)


def test_step_of_external_effort_rises_as_its_response():
    recording = motion(seconds=2.0)
    e = np.array([0.0, 5.0, 0, 0, -1.0, 0])
    pushed = recording._replace(effort=recording.effort - np.where(recording.t[:, None] >= 1.0, e, 0.0))
    seen = observe(TRUE, pushed, K) - observe(TRUE, recording, K)
    expected = step_response(recording.t - 1.0, K)[:, None] * e
    assert_allclose(seen, expected, rtol=0, atol=0.6 * 5 * K / 250)  # half a sample, that a step lies between two


def test_the_smallest_step_is_detected_and_less_is_not():
    """At every moment, in both directions."""
    recording = motion(noise=1.0)
    report = collision_report(identify_friction(MODEL, recording.between(0.0, 0.5)), recording)
    assert not report.alarms
    _, steps = smallest_steps(report.recording, report.residuals, report.thresholds, bandwidth=K)
    for joint in (1, 5):
        step = np.max(steps[:, joint])
        assert 0.5 * report.thresholds[joint] < step < 4 * report.thresholds[joint]
        missed = 0
        for start in np.linspace(13.0, 23.0, 40):
            for sign in (1, -1):
                e = sign * np.eye(6)[joint]
                assert detect(with_step(report, start, 1.02 * step * e), report.thresholds)
                missed += not detect(with_step(report, start, 0.6 * step * e), report.thresholds)
        assert missed


@pytest.mark.parametrize("name", REAL_ARMS)
def test_a_real_arm_that_nothing_touches(name):
    """Calibrated on the first half: no false alarm on the second, and steps are found that are not huge."""
    model, recording = real_arm(name)
    report = collision_report(identify_friction(model, recording.between(0.0, 0.5)), recording)
    assert not report.alarms
    assert np.all(np.array(report.smallest) < 4 * np.array(report.thresholds))
    for start in np.linspace(0.55, 0.9, 8) * recording.t[-1]:
        assert detect(with_step(report, start, 1.05 * report.smallest[1] * np.eye(model.n)[1]), report.thresholds)
