"""Plays the arm's driver: sends states and desired states at a rate, and notes when the efforts come back."""

from __future__ import annotations

import time

import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from ros2_dyn_interfaces.msg import CollisionState
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import MarkerArray

from ros2_dyn.model import RobotModel
from ros2_dyn.ros.outputs import EFFORT_TOPICS

PATIENCE = 30.0
"""Seconds that a node may take to start and to be found."""
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
FIRST, OTHERS = EFFORT_TOPICS[0], EFFORT_TOPICS[1:]


class Driver:
    """One node under test, in a namespace of its own."""

    def __init__(self, namespace: str, model: RobotModel, detecting: bool = False) -> None:
        self.node = rclpy.create_node("driver", namespace=namespace)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        names = list(model.joint_names)
        self._state = JointState(name=names, position=[0.0] * model.n, velocity=[0.0] * model.n, effort=[0.0] * model.n)
        self._wanted = JointTrajectory(joint_names=names, points=[JointTrajectoryPoint(accelerations=[0.5] * model.n)])
        self._states = self.node.create_publisher(JointState, "joint_states", 10)
        self._desired = self.node.create_publisher(JointTrajectory, "dynamics/desired", 10)
        self._sent: dict[int, float] = {}
        self.latencies: list[float] = []
        self.node.create_subscription(JointState, f"dynamics/{FIRST}", self._on_effort, 100)
        # The other topics are subscribed to, but not read: Python listeners would be what is measured.
        self._deaf = rclpy.create_node("deaf", namespace=namespace)
        for topic in OTHERS:
            self._deaf.create_subscription(JointState, f"dynamics/{topic}", lambda _: None, NEWEST)
        for name in names:
            self._deaf.create_subscription(WrenchStamped, f"dynamics/joint_wrench/{name}", lambda _: None, NEWEST)
        self._deaf.create_subscription(MarkerArray, "dynamics/wrench_markers", lambda _: None, NEWEST)
        if detecting:
            self._deaf.create_subscription(JointState, "dynamics/external_effort", lambda _: None, NEWEST)
            self._deaf.create_subscription(CollisionState, "dynamics/collision", lambda _: None, NEWEST)
            self._deaf.create_subscription(WrenchStamped, "dynamics/external_wrench", lambda _: None, NEWEST)

    def wait(self) -> float:
        """Until the node answers; seconds."""
        started = time.monotonic()
        while not self.latencies:
            if time.monotonic() - started > PATIENCE:
                raise TimeoutError("the node does not answer")
            self._send()
            self._spin(time.perf_counter() + 0.01)
        return time.monotonic() - started

    def drive(self, rate: float, seconds: float) -> tuple[int, np.ndarray]:
        """Send states at a rate; how many, and the latencies (s) of those that were answered."""
        self._sent.clear()
        self.latencies.clear()
        count = round(rate * seconds)
        started = time.perf_counter()
        for i in range(count):
            self._send()
            self._spin(started + (i + 1) / rate)
        self._spin(time.perf_counter() + 0.2)
        return count, np.array(self.latencies)

    def _send(self) -> None:
        now = self.node.get_clock().now()
        stamp = now.to_msg()
        phase = 1e-9 * now.nanoseconds
        self._state.header.stamp = self._wanted.header.stamp = stamp
        self._state.position = np.sin(phase + np.arange(len(self._state.name)))
        self._state.velocity = np.cos(phase + np.arange(len(self._state.name)))
        self._desired.publish(self._wanted)
        self._sent[now.nanoseconds] = time.perf_counter()
        self._states.publish(self._state)

    def _on_effort(self, message: JointState) -> None:
        now = time.perf_counter()
        sent = self._sent.pop(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec, None)
        if sent is not None:
            self.latencies.append(now - sent)

    def _spin(self, until: float) -> None:
        while (left := until - time.perf_counter()) > 0:
            self._executor.spin_once(timeout_sec=left)
