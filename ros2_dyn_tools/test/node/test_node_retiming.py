# SPDX-License-Identifier: Apache-2.0
"""The node that times trajectories, with the robot and the parameters of another node."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("rclpy", reason="ROS 2 is not here")
pytest.importorskip("toppra", reason="toppra, which finds the timing, is not installed")

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Inertia, Vector3
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from ros2_dyn_interfaces.srv import RetimeTrajectory, SetPayload
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from driven_arms import MODEL
from driver import NAMES, Driver, driving
from ros2_dyn.dynamics import friction, rnea
from ros2_dyn.model import Payload
from ros_harness import Listener, Process

NAME = "retiming/retime_trajectory"
POSTURES = [[0.0, -1.2, 1.4, -1.8, -1.57, 0.3], [0.8, -0.8, 0.9, -1.5, -1.2, 0.0], [1.0, -1.2, 1.4, -1.8, -1.57, 1.0]]
SCALE = 0.5


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    """A node, and the one that times for it once it has its robot."""
    with driving(Driver.with_robot, **{"commands.effort_scale": SCALE}) as driver:
        listener, retiming = driver.listener, Process("ros2_dyn_tools.ros.retime_node")
        wait_until(lambda: "no robot yet" not in listener.call(RetimeTrajectory, NAME).message, listener)
        yield driver
        assert "Traceback" not in retiming.stop()


def wait_until(condition: Callable[[], bool], listener: Listener) -> None:
    """Wait until answers to requests are other ones."""

    def holds() -> bool:
        listener.spin(0.2)
        return condition()

    listener.until(holds, "the answers remain the same")


def path(names=NAMES[::-1], postures=POSTURES) -> JointTrajectory:
    """Three postures, 4 s apart, with the joints in another order than the model's."""
    points = [
        JointTrajectoryPoint(positions=posture[::-1], time_from_start=Duration(sec=4 * i))
        for i, posture in enumerate(postures)
    ]
    return JointTrajectory(joint_names=list(names), points=points)


def table(answer, field: str) -> np.ndarray:
    """Return a field of all points, in the order of the model."""
    return np.array([getattr(point, field) for point in answer.trajectory.points])[:, ::-1]


def check(model, answer) -> None:
    """Efforts are those of the model and within the share that commands may use."""
    assert answer.success, answer.message
    assert list(answer.trajectory.joint_names) == list(NAMES[::-1])
    q, qd, qdd = (table(answer, field) for field in ("positions", "velocities", "accelerations"))
    effort = table(answer, "effort")
    assert_allclose(effort, rnea(model, q, qd, qdd) + friction(model, qd), atol=1e-9)
    assert np.all(np.abs(effort) <= 1.01 * SCALE * MODEL.effort_limit)
    assert_allclose(q[[0, -1]], [POSTURES[0], POSTURES[-1]], atol=1e-9)
    last = answer.trajectory.points[-1].time_from_start
    assert_allclose(last.sec + 1e-9 * last.nanosec, answer.duration, atol=1e-8)


def test_path_is_timed_with_the_payload_within_what_commands_may_use(driver):
    free = driver.listener.call(RetimeTrajectory, NAME, trajectory=path(), rate=250.0)
    check(MODEL, free)
    assert free.duration_before == 8.0
    assert free.duration < 4.0
    assert len(free.trajectory.points) == int(np.ceil(free.duration * 250)) + 1
    box = Inertia(m=3.0, com=Vector3(z=0.1))
    assert driver.listener.call(SetPayload, "retiming/set_payload", inertia=box).success
    loaded = MODEL.carrying(Payload(3.0, (0, 0, 0.1)))
    check(loaded, driver.listener.call(RetimeTrajectory, NAME, trajectory=path()))
    answer = driver.listener.call(SetPayload, "retiming/set_payload", link="nowhere")
    assert "nowhere" in answer.message
    assert driver.listener.call(SetPayload, "retiming/set_payload").success


def test_limits_are_by_the_names_of_the_request(driver):
    limits = [8.0, 8.0, 8.0, 8.0, 8.0, 0.5]  # of the first joint of the model, which is the last of the request
    answer = driver.listener.call(RetimeTrajectory, NAME, trajectory=path(), acceleration_limits=limits)
    assert answer.success, answer.message
    qdd = table(answer, "accelerations")
    assert np.max(np.abs(qdd), axis=0)[0] == pytest.approx(0.5, rel=0.02)
    assert np.max(np.abs(qdd[:, 1:])) > 0.51


def test_wrong_requests_are_answered_with_the_reason(driver):
    def message(trajectory: JointTrajectory, **fields) -> str:
        answer = driver.listener.call(RetimeTrajectory, NAME, trajectory=trajectory, **fields)
        assert not answer.success
        assert not answer.trajectory.points
        return answer.message

    assert "expected points, each with positions" in message(JointTrajectory(joint_names=list(NAMES)))
    assert f"the joint '{NAMES[0]}' is missing" in message(path(names=[*NAMES[:0:-1], "other"]))
    assert "points[0].positions: expected 2 numbers, got 6" in message(path(names=["a", "b"]))
    assert "jerk_limits: expected 6 numbers, got 1" in message(path(), jerk_limits=[1.0])
    assert "share: expected a number above 0, at most 1" in message(path(), share=1.5)
    far = [POSTURES[0], [0.0, -1.2, 1.4, -1.8, -1.57, 30.0]]
    assert f"joint '{NAMES[5]}' at " in message(path(postures=far))


def test_parameters_of_the_other_node_are_followed(driver):
    """With a twentieth of its efforts the arm cannot even stand still."""

    def answer() -> RetimeTrajectory.Response:
        return driver.listener.call(RetimeTrajectory, NAME, trajectory=path())

    def set_scale(scale: float) -> None:
        parameter = Parameter("commands.effort_scale", value=scale).to_parameter_msg()
        result = driver.listener.call(SetParameters, "dynamics/set_parameters", parameters=[parameter])
        assert result.results[0].successful, result.results[0].reason

    set_scale(0.05)
    wait_until(lambda: "so no speed is slow enough" in answer().message, driver.listener)
    set_scale(SCALE)
    wait_until(lambda: bool(answer().success), driver.listener)
