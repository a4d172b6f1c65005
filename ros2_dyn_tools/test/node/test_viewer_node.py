# SPDX-License-Identifier: Apache-2.0
"""The node behind the page: what it reads, what it asks for, and that it commands nothing."""

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import MOCK_ARM, mock_arm

pytest.importorskip("rclpy", reason="ROS 2 is not here")

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from ros2_dyn.dynamics import gravity, rnea
from ros2_dyn.ros.node_base import LATCHED
from ros2_dyn.ros.outputs import EFFORT_TOPICS
from ros2_dyn.ros.parameters import declare_settings
from ros2_dyn_tools.ros.viewer_node import Topics, ViewerNode, spin_beside
from ros2_dyn_tools.viewer.picture import EXTERNAL, GRAVITY, MEASURED, STALE, THRESHOLD, Picture
from ros_harness import Listener

MODEL = mock_arm()
Q = np.array([0.3, -1.2, 1.4, -1.8, -1.5, 0.4])
THRESHOLDS = [12.0, 11.0, 5.0, 4.0, 3.0, 2.0]


class FakeNode:
    """A node with the names, the parameters and the services of `dynamics`, which a test lets say what it wants."""

    def __init__(self) -> None:
        self.listener = Listener()
        overrides = [
            Parameter("robot.joints", value=list(MODEL.joint_names)),
            Parameter("collision.threshold", value=THRESHOLDS),
        ]
        self.node = rclpy.create_node("dynamics", context=self.listener.context, parameter_overrides=overrides)
        declare_settings(self.node)
        self.listener.executor.add_node(self.node)
        self.resets = 0
        self.node.create_service(Trigger, "~/reset_collision", self._reset)
        kinds = {"~/mode": String, "~/collision_stop": Bool, "robot_description": String}
        self.latched = {name: self.node.create_publisher(kind, name, LATCHED) for name, kind in kinds.items()}
        self.diagnostics = self.node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self.wrench = self.node.create_publisher(WrenchStamped, "~/desired_wrench", 1)
        self.contact = self.node.create_publisher(WrenchStamped, "mock_arm/contact_wrench", 10)
        self.states = self.node.create_publisher(JointState, "joint_states", 10)
        self.latched["robot_description"].publish(String(data=MOCK_ARM.read_text()))
        self.external = np.zeros(6)

    def _reset(self, _, response):
        self.resets += 1
        response.success = True
        return response

    def until(self, holds, what: str) -> None:
        """Publish states until something holds."""

        def publish_and_look() -> bool:
            state = JointState(name=list(MODEL.joint_names), position=Q, velocity=0 * Q)
            state.effort = rnea(MODEL, Q, 0 * Q, 0 * Q) - self.external
            now = time.time_ns()
            state.header.stamp.sec, state.header.stamp.nanosec = divmod(now, 10**9)
            self.states.publish(state)
            return bool(holds())

        self.listener.until(publish_and_look, what)

    def until_shown(self, node: ViewerNode, holds, what: str) -> Picture:
        """Publish states until something holds of the page's picture; return it.

        There is none between a change of parameters and the next state.
        """
        pictures: list[Picture | None] = []

        def shown() -> bool:
            pictures.append(node.picture())
            return pictures[-1] is not None and holds(pictures[-1])

        self.until(shown, what)
        return pictures[-1]


@pytest.fixture
def fake() -> Iterator[FakeNode]:
    rclpy.init()
    fake = FakeNode()
    yield fake
    fake.node.destroy_node()
    fake.listener.close()
    rclpy.try_shutdown()


def viewer(fake: FakeNode):
    """A node of the page, once it shows the robot with the parameters of the node; and what ends it."""
    node = ViewerNode(Topics())
    end = spin_beside(node)
    known = "no picture with the thresholds of the node"
    fake.until_shown(node, lambda shown: np.allclose(shown.efforts[THRESHOLD], THRESHOLDS), known)

    def close() -> None:
        end()
        node.destroy_node()

    return node, close


def test_page_shows_what_the_node_says_and_computes_the_rest_itself(fake):
    node, close = viewer(fake)
    picture = fake.until_shown(node, lambda shown: True, "no picture")
    assert_allclose(picture.q, Q)
    assert_allclose(picture.efforts[GRAVITY], gravity(MODEL, Q), atol=1e-9)
    assert_allclose(picture.efforts[MEASURED], gravity(MODEL, Q), atol=1e-9)
    assert node.robot.urdf == MOCK_ARM.read_text()

    fake.latched["~/mode"].publish(String(data="stopped"))
    level = DiagnosticStatus.WARN
    said = DiagnosticStatus(name="dynamics: mode", level=level, message="stopped, since too fast")
    fake.diagnostics.publish(DiagnosticArray(status=[said]))
    wrench = WrenchStamped()
    wrench.header.frame_id, wrench.wrench.force.z = "base_link", -20.0
    fake.wrench.publish(wrench)
    picture = fake.until_shown(node, lambda shown: shown.commanded is not None, "no commanded wrench")
    assert_allclose(picture.commanded.wrench, [0, 0, -20, 0, 0, 0])
    status = fake.until_shown(node, lambda shown: shown.status.reason == "too fast", "no reason").status
    assert (status.node, status.mode) == ("dynamics: runs", "stopped")
    assert {each.name: each.level for each in status.diagnostics}[said.name] == 1

    changed = [12.0, 11.0, 5.0, 4.0, 3.0, 9.0]
    fake.node.set_parameters([Parameter("collision.threshold", value=changed)])
    fake.until_shown(node, lambda shown: np.allclose(shown.efforts[THRESHOLD], changed), "no changed thresholds")
    costly = [*EFFORT_TOPICS, "external_effort", "collision", "external_wrench", "wrench_markers", "command"]
    costly += [f"joint_wrench/{name}" for name in MODEL.joint_names]
    assert [topic for topic in costly if fake.node.count_subscribers(f"dynamics/{topic}")] == []
    assert fake.node.count_publishers("dynamics/enable") == 0
    close()


def test_push_on_a_simulated_arm_is_shown_while_it_is_published(fake):
    node, close = viewer(fake)
    push = WrenchStamped()
    push.wrench.force.y, push.wrench.torque.z = 7.0, -2.0
    fake.contact.publish(push)
    picture = fake.until_shown(node, lambda shown: shown.push is not None, "no push")
    assert_allclose(picture.push, [0, 7, 0, 0, 0, -2])
    fake.until_shown(node, lambda shown: shown.push is None, "the push stays")
    close()


def test_node_that_has_gone_is_told_without_its_mode_and_what_it_said_is_stale(fake, monkeypatch):
    monkeypatch.setattr("ros2_dyn_tools.ros.viewer_node.DIAGNOSTIC_AGE", 0.3)
    node, close = viewer(fake)
    fake.latched["~/mode"].publish(String(data="gravity"))
    fake.diagnostics.publish(DiagnosticArray(status=[DiagnosticStatus(name="dynamics: mode", message="gravity")]))
    fake.until_shown(node, lambda shown: shown.status.mode == "gravity" and shown.status.diagnostics, "no mode")
    parameters = f"{fake.node.get_name()}/get_parameters"
    service = next(each for each in fake.node.services if each.srv_name.endswith(parameters))
    fake.node.destroy_service(service)
    status = fake.until_shown(node, lambda shown: shown.status.node == "dynamics: not found", "the node runs").status
    assert status.mode == ""
    fake.until_shown(node, lambda shown: shown.status.diagnostics[0].level == STALE, "its diagnostics are fresh")
    close()


def test_collision_is_the_nodes_and_reset_asks_it(fake):
    node, close = viewer(fake)
    fake.latched["~/collision_stop"].publish(Bool(data=True))
    fake.external = np.array([0, 0, 30.0, 0, 0, 0])
    fake.until_shown(node, lambda shown: shown.status.collision, "no collision")
    fake.until_shown(node, lambda shown: shown.efforts[EXTERNAL, 2] > 20, "no external effort")
    fake.until_shown(node, lambda shown: shown.status.contact_link == "forearm_link", "no contact link")
    fake.external = np.zeros(6)
    answers: list[str] = []
    thread = threading.Thread(target=lambda: answers.append(node.reset()))
    thread.start()
    fake.until(lambda: not thread.is_alive(), "no answer")
    assert (answers, fake.resets) == ([""], 1)
    fake.latched["~/collision_stop"].publish(Bool(data=False))
    fake.until_shown(node, lambda shown: not shown.status.collision, "the collision stays")
    close()
