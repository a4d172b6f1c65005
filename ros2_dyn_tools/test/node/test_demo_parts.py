# SPDX-License-Identifier: Apache-2.0
"""The parts of the demo `identify` without processes: the arm, its efforts by stamp."""

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
from ros2_dyn_tools.demos.desired_publisher import Lap
from ros2_dyn_tools.demos.deviating_arm import deviating_arm
from ros2_dyn_tools.demos.effort_recorder import MEASURED, EffortRecorder
from ros2_dyn_tools.demos.sampled_motion import SampledMotion
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


def recorder() -> EffortRecorder:
    """Return a recorder of two joints and two models that has begun at 10 s."""
    efforts = EffortRecorder(SILENT, ["a", "b"], {"urdf": "", "card": ""})
    efforts.begin(10.0)
    return efforts


def test_efforts_are_matched_by_stamp_and_joint_whatever_comes_first():
    efforts = recorder()
    efforts.take("card", message(11, ["b", "a"], [2.0, 1.0]))
    efforts.take(MEASURED, message(12, ["a", "b"], [9.0, 9.0]))
    efforts.take(MEASURED, message(11, ["a", "b"], [1.5, 2.0]))
    assert efforts.t == []
    efforts.take("urdf", message(11, ["a", "b"], [4.5, 6.0]))
    assert efforts.t == [11.0]
    assert_allclose(efforts.efforts("card"), [[1.0, 2.0]], atol=0)
    assert_allclose(efforts.rms("card"), [0.5, 0.0], atol=0)
    assert_allclose(efforts.rms("urdf"), [3.0, 4.0], atol=0)


def test_errors_are_root_mean_squares_of_all_instants_after_the_beginning():
    efforts = recorder()
    assert np.all(np.isnan(efforts.rms("urdf")))
    for t, error in ((9, 100.0), (10, 100.0), (11, 1.0), (12, -7.0)):
        for name in (MEASURED, "urdf", "card"):
            efforts.take(name, message(t, ["a", "b"], [error if name == MEASURED else 0.0, 0.0]))
    assert efforts.t == [11.0, 12.0]
    assert efforts.latest["card"] == 12.0
    assert_allclose(efforts.rms("urdf"), [5.0, 0.0], atol=1e-12)


def test_motion_of_a_file_is_the_one_that_was_designed_and_its_message_has_every_sample(tmp_path):
    weights = np.arange(12.0).reshape(4, 3) / 10
    designed = FourierTrajectory(np.array([0.1, 0.2, 0.3]), weights, 0.5, 2.0)
    write_csv(designed, ["a", "b", "c"], 10.0, tmp_path / "motion.csv")
    motion = SampledMotion.read(tmp_path / "motion.csv")
    q, qd, _ = designed.at(motion.t)
    assert_allclose(motion.t, np.arange(21) / 10, rtol=0, atol=1e-9)
    assert_allclose(motion.q, q, rtol=0, atol=1e-8)
    assert_allclose(motion.qd, qd, rtol=0, atol=1e-8)
    points = motion.message(["a", "b", "c"]).points
    assert [1e9 * point.time_from_start.sec + point.time_from_start.nanosec for point in points] == [
        1e8 * k for k in range(21)
    ]
    assert_allclose([point.velocities for point in points], motion.qd, rtol=0, atol=0)


def test_motion_of_a_lap_begins_and_ends_at_home_at_rest():
    motion = SampledMotion.of(Lap(MODEL, HOME, 5.0, 4.0), 25.0)
    assert len(motion.t) == 101
    for i in (0, -1):
        assert_allclose(motion.q[i], HOME, atol=1e-9)
        assert_allclose(motion.qd[i], 0, atol=1e-9)
    assert_allclose(np.diff(motion.q, axis=0), 0.04 * (motion.qd[1:] + motion.qd[:-1]) / 2, atol=2e-3)
    assert np.all(np.ptp(motion.q, axis=0) > 0.3)


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
