# SPDX-License-Identifier: Apache-2.0
"""A recording that is not good enough is told by what it lacks, and by nothing else."""

import numpy as np
import pytest

from recordings import synthetic_recording
from robots import mock_arm
from ros2_dyn.dynamics import rnea
from ros2_dyn_tools.recording.gate import gate
from ros2_dyn_tools.recording.recording import Recording

pytest.importorskip("scipy", reason="SciPy is not installed")
MODEL = mock_arm()
RECORDING = synthetic_recording(MODEL, 2, seconds=40.0, rate=100.0)


def changed(column, joint, change):
    """Return the recording with one joint's column of "q", "qd" or "effort" replaced by a function of it."""
    values = getattr(RECORDING, column).copy()
    values[:, joint] = change(values[:, joint])
    return RECORDING._replace(**{column: values})


def every(stride, recording=RECORDING):
    return Recording(*(values[::stride] for values in recording))


def cut_off(effort):
    """Return what a motor of nine tenths of this effort would exert."""
    most = 0.9 * np.max(np.abs(effort))
    return np.clip(effort, -most, most)


def faults(recording):
    return [(each.subject, each.joint) for each in gate(MODEL, recording) if not each.good]


def test_good_recording_has_no_fault_and_all_subjects_are_told():
    checks = gate(MODEL, RECORDING)
    assert all(each.good and not each.instead for each in checks)
    assert [each.subject for each in checks] == ["length", "rate", "effort", "motion", "power"]


NAMES = MODEL.joint_names
BACK = np.where(np.arange(len(RECORDING.t)) == 50, RECORDING.t[49] - 1e-3, RECORDING.t)


@pytest.mark.parametrize(
    ("recording", "expected"),
    [
        (Recording(*(values[:1500] for values in RECORDING)), ("length", None)),
        (every(8), ("rate", None)),
        (RECORDING._replace(t=BACK), ("stamps", None)),
        (Recording(*(np.delete(values, slice(500, 600), 0) for values in RECORDING)), ("stamps", None)),
        (RECORDING._replace(qd=np.full_like(RECORDING.qd, np.nan)), ("velocity", None)),
        (changed("qd", 2, lambda qd: 57.3 * qd), ("velocity", NAMES[2])),
        (changed("effort", 1, np.zeros_like), ("effort", NAMES[1])),
        (changed("effort", 1, lambda effort: np.round(effort / np.ptp(effort) * 9)), ("effort", NAMES[1])),
        (changed("effort", 1, cut_off), ("effort", NAMES[1])),
        (RECORDING._replace(effort=-RECORDING.effort), ("power", None)),
    ],
)
def test_what_a_recording_lacks_is_told_with_what_to_record_instead(recording, expected):
    assert faults(recording) == [expected]
    (check,) = [each for each in gate(MODEL, recording) if not each.good]
    assert check.told
    assert check.instead


def test_joints_that_hardly_move_or_move_one_way_are_told():
    q, qd = RECORDING.q.copy(), RECORDING.qd.copy()
    q[:, 3], qd[:, 3] = 1e-3 * q[:, 3], 1e-3 * qd[:, 3]
    q[:, 4] = np.linspace(0.0, 2.0, len(q))
    qd[:, 4] = np.gradient(q[:, 4], RECORDING.t)
    assert faults(RECORDING._replace(q=q, qd=qd)) == [("motion", NAMES[3]), ("motion", NAMES[4])]


def test_efforts_with_few_digits_are_not_cut_off():
    for digits in (30, 100, 300):
        coarse = np.round(RECORDING.effort / np.max(np.abs(RECORDING.effort), axis=0) * digits)
        assert faults(RECORDING._replace(effort=coarse)) == []


def test_joint_that_stands_still_with_noise_has_no_late_velocity():
    q, qd = RECORDING.q.copy(), RECORDING.qd.copy()
    noise = np.random.default_rng(1).normal(size=(2, len(q)))
    q[:, 3], qd[:, 3] = 2e-5 * noise[0], 1e-3 * noise[1]
    assert faults(RECORDING._replace(q=q, qd=qd)) == [("motion", NAMES[3])]


def test_one_way_is_told_of_a_noisy_joint_that_goes_around():
    q, qd = RECORDING.q.copy(), RECORDING.qd.copy()
    q[:, 4] = np.linspace(0.0, 20.0, len(q)) + 5e-5 * np.random.default_rng(1).normal(size=len(q))
    q[:, 4], qd[:, 4] = (q[:, 4] + np.pi) % (2 * np.pi) - np.pi, 0.5
    assert ("motion", NAMES[4]) in faults(RECORDING._replace(q=q, qd=qd))


def test_few_velocities_are_none():
    qd = np.full_like(RECORDING.qd, np.nan)
    qd[:5] = RECORDING.qd[:5]
    assert faults(RECORDING._replace(qd=qd)) == [("velocity", None)]


@pytest.mark.parametrize("part", [slice(0, 2000), slice(1000, 3000), slice(2000, 4000)])
@pytest.mark.parametrize("gravity", [(0.0, 0.0, -9.81), (0.0, 0.0, 9.81)], ids=["stands", "hangs"])
def test_efforts_of_the_wrong_sign_are_told_of_an_arm_that_ends_lower_or_higher_than_it_began(gravity, part):
    t, q, qd, _ = (values[part] for values in RECORDING)
    effort = rnea(MODEL, q, qd, np.gradient(qd, t, axis=0), gravity=gravity)
    for sign, good in ((1, True), (-1, False)):
        checks = gate(MODEL, Recording(t, q, qd, sign * effort), gravity)
        assert [each.good for each in checks if each.subject == "power"] == [good]


def test_unit_of_the_efforts_does_not_matter():
    told = [(each.subject, each.joint, each.good) for each in gate(MODEL, RECORDING)]
    small = RECORDING._replace(effort=1e-3 * RECORDING.effort)
    assert [(each.subject, each.joint, each.good) for each in gate(MODEL, small)] == told


def test_few_states_are_told_alone():
    (check,) = gate(MODEL, Recording(*(values[:20] for values in RECORDING)))
    assert (check.subject, check.good, check.told) == ("length", False, "20 states")
