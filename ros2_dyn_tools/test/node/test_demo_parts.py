# SPDX-License-Identifier: Apache-2.0
"""The parts of the demos without processes: metrics, motions, efforts by stamp, and the arm of `identify`."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import MOCK_ARM, mock_arm

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from types import SimpleNamespace

from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from ros2_dyn.dynamics import gravity
from ros2_dyn.model.pseudo_inertia import is_consistent
from ros2_dyn.ros.mock_arm_parameters import MockArmSettings
from ros2_dyn_tools.demos.demo import Metric
from ros2_dyn_tools.demos.effort_recorder import MEASURED, EffortRecorder
from ros2_dyn_tools.demos.identify_demo import deviating_arm
from ros2_dyn_tools.demos.laps import Lap, read_samples, trajectory_message
from ros2_dyn_tools.identification.excitation import FourierTrajectory
from ros2_dyn_tools.identification.excitation_files import write_csv
from ros2_dyn_tools.identification.urdf_output import write_arm

MODEL = mock_arm()
HOME = [0.0, -1.2, 1.4, -1.8, -1.57, 0.0]
SILENT = SimpleNamespace(create_subscription=lambda *_: None)
"""A node that receives nothing."""


def message(t: int, names: list[str], effort: list[float]) -> JointState:
    """Return efforts at a time, s."""
    return JointState(header=Header(stamp=Time(sec=t)), name=names, effort=effort)


def test_messages_are_matched_by_stamp_whatever_comes_first():
    taken: list[dict] = []
    efforts = EffortRecorder(SILENT, {"known": "", "guessed": ""}, taken.append)
    efforts.on_message("known", message(11, ["b", "a"], [2.0, 1.0]))
    efforts.on_message(MEASURED, message(12, ["a", "b"], [9.0, 9.0]))
    efforts.on_message(MEASURED, message(11, ["a", "b"], [1.5, 2.0]))
    assert taken == []
    efforts.on_message("guessed", message(11, ["a", "b"], [4.5, 6.0]))
    assert [sorted(each) for each in taken] == [["guessed", "known", MEASURED]]
    assert {each.header.stamp.sec for each in taken[0].values()} == {11}
    assert efforts.latest == {"known": 11.0, "guessed": 11.0, MEASURED: 11.0}


@pytest.mark.parametrize(
    ("metric", "problem"),
    [
        (Metric(key="x", value=2.0), None),
        (Metric(key="x", value=2.0, most=2.0, least=1.0), None),
        (Metric(key="x", value=2.5, unit="N", most=2.0), "x is 2.5 N, at most 2 is required"),
        (Metric(key="x", label="  force", value=-1, least=0.0), "force is -1 , at least 0 is required"),
        (Metric(key="x", value=np.nan, most=2.0), "x is nan , at most 2 is required"),
        (Metric(key="x", value=None, most=2.0), "x: it was not measured"),
    ],
)
def test_metric_out_of_its_range_or_not_measured_is_named(metric, problem):
    assert metric.problem() == problem


def test_motion_of_a_file_is_the_one_that_was_designed_and_its_message_has_every_sample(tmp_path):
    weights = np.arange(12.0).reshape(4, 3) / 10
    designed = FourierTrajectory(np.array([0.1, 0.2, 0.3]), weights, 0.5, 2.0)
    write_csv(designed, ["a", "b", "c"], 10.0, tmp_path / "motion.csv")
    samples = read_samples(tmp_path / "motion.csv")
    t = np.arange(21) / 10
    assert_allclose(samples, np.column_stack([t, *designed.at(t)[:2]]), rtol=0, atol=1e-8)
    points = trajectory_message(samples, ["a", "b", "c"]).points
    assert [1e9 * point.time_from_start.sec + point.time_from_start.nanosec for point in points] == [
        1e8 * k for k in range(21)
    ]
    assert_allclose([[*point.positions, *point.velocities] for point in points], samples[:, 1:], rtol=0, atol=0)


def test_motion_of_a_lap_begins_and_ends_at_home_at_rest():
    t, q, qd = np.split(Lap(MODEL, HOME, 5.0, 4.0).samples(25.0), [1, 7], axis=1)
    assert_allclose(t[:, 0], np.arange(101) / 25)
    for i in (0, -1):
        assert_allclose(q[i], HOME, atol=1e-9)
        assert_allclose(qd[i], 0, atol=1e-9)
    assert_allclose(np.diff(q, axis=0), 0.04 * (qd[1:] + qd[:-1]) / 2, atol=2e-3)
    assert np.all(np.ptp(q, axis=0) > 0.3)


def test_deviating_arm_differs_by_tens_of_percent_and_is_one_that_can_exist():
    real = deviating_arm(MODEL)
    for is_one, told in zip(real.inertia, MODEL.inertia):
        assert 0.15 < abs(float(is_one.mass) / float(told.mass) - 1) < 0.5
        assert is_consistent(is_one.parameters)
    assert np.max(np.abs(gravity(real, HOME) - gravity(MODEL, HOME))) > 5.0  # N m
    for joint in real.joints:
        dynamics = joint.dynamics
        assert min(dynamics.viscous, dynamics.coulomb, dynamics.armature, dynamics.presliding[0][1]) > 0


def test_mock_arm_is_as_its_own_files_say_and_is_known_by_its_urdf(tmp_path):
    real = deviating_arm(MODEL)
    write_arm(tmp_path / "real.urdf", MOCK_ARM.read_text(), MODEL, real)
    files = {"real_urdf": str(tmp_path / "real.urdf"), "real_parameters": str(tmp_path / "real.yaml")}
    settings = MockArmSettings(**files)
    assert_allclose(gravity(settings.true_model(MODEL), HOME), gravity(real, HOME), rtol=0, atol=1e-3)
    assert [joint.dynamics for joint in settings.true_model(MODEL).joints] == [joint.dynamics for joint in real.joints]
    assert_allclose(gravity(settings.known_model(MODEL), HOME), gravity(MODEL, HOME), rtol=0, atol=1e-12)
    given = MockArmSettings(**files, coulomb_friction=(1.0,) * 6).true_model(MODEL)
    assert [joint.dynamics.coulomb for joint in given.joints] == [1.0] * 6
    assert given.joints[0].dynamics.viscous == real.joints[0].dynamics.viscous
