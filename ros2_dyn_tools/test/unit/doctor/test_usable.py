# SPDX-License-Identifier: Apache-2.0
"""What cannot be diagnosed is refused in clear words, and what is missing in part is left out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from recordings import synthetic_recording
from robots import general_tree, mock_arm
from ros2_dyn.errors import InputError
from ros2_dyn_tools.doctor import diagnose
from ros2_dyn_tools.doctor.recorded_samples import take_samples
from ros2_dyn_tools.doctor.usable import usable
from ros2_dyn_tools.recording.gate import gate
from ros2_dyn_tools.recording.recording import Recording

pytest.importorskip("scipy", reason="SciPy is not installed")
MODEL = mock_arm()
RECORDING = synthetic_recording(MODEL, 2, seconds=15.0, rate=50.0)
STILL = RECORDING._replace(q=np.tile(RECORDING.q[0], (len(RECORDING.t), 1)))


def constant(values):
    return np.tile(values[0], (len(values), 1))


@pytest.mark.parametrize(
    ("recording", "told"),
    [
        (Recording(RECORDING.t, *(x[:, :5] for x in RECORDING[1:])), "expected 6 joints, got 5"),
        (RECORDING._replace(effort=np.full_like(RECORDING.effort, np.nan)), "no joint has efforts that change"),
        (RECORDING._replace(effort=constant(RECORDING.effort)), "no joint has efforts that change"),
        (RECORDING._replace(t=1e9 * RECORDING.t), r"states are 2e\+07 s apart"),
        (RECORDING._replace(t=np.where(RECORDING.t > 7, RECORDING.t - 3, RECORDING.t)), "go back by 2.98 s"),
        (STILL, r"at least 5 s of motion, got 0\.0 s: move all joints"),
        (Recording(*(x[:100] for x in RECORDING)), "at least 50 states with efforts over 5 s"),
        (Recording(*(x[(RECORDING.t % 2) < 1.5] for x in RECORDING)), "between its gaps"),
    ],
)
def test_recording_that_tells_nothing_is_refused(recording, told):
    with pytest.raises(InputError, match=told):
        diagnose(MODEL, recording)


def test_two_seconds_of_motion_are_too_few():
    q = STILL.q.copy()
    q[200:300] = RECORDING.q[200:300] - RECORDING.q[200] + STILL.q[0]
    q[300:] = q[299]
    with pytest.raises(InputError, match=r"expected at least 5 s of motion, got 2\."):
        diagnose(MODEL, RECORDING._replace(q=q))


def test_robot_with_several_degrees_of_freedom_at_a_joint_is_refused():
    with pytest.raises(InputError, match="several degrees of freedom"):
        diagnose(general_tree(1), RECORDING)


def test_joints_without_efforts_and_those_that_hardly_move_are_noted():
    effort, q = RECORDING.effort.copy(), RECORDING.q.copy()
    effort[:, 3], effort[:, 4], q[:, 1] = 0.0, np.nan, 0.3
    found = usable(MODEL, RECORDING._replace(effort=effort, q=q))
    assert_allclose(found.effort[:, 3:5], 0.0)
    names = MODEL.joint_names
    told = [(each.subject, each.joint) for each in gate(MODEL, found) if each.joint]
    assert told == [("effort", names[3]), ("effort", names[4]), ("motion", names[1])]


def test_states_with_earlier_stamps_are_left_out():
    t = RECORDING.t.copy()
    t[100] -= 0.05
    assert_allclose(usable(MODEL, RECORDING._replace(t=t)).t, np.delete(t, 100))


def test_samples_near_a_gap_are_left_out():
    gap = (RECORDING.t > 6) & (RECORDING.t < 8)
    samples = take_samples(Recording(*(x[~gap] for x in RECORDING)))
    t = samples.t[samples.inner(1)]
    assert not np.any((t > 5.5) & (t < 8.5))
    assert np.any(t < 5.3)
    assert np.any(t > 8.7)
