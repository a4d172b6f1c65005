# SPDX-License-Identifier: Apache-2.0
"""Plays the arm's driver: sends states and desired states at a rate, and notes when the efforts come back.

It is served as the nodes are: the ordinary executor takes longer to hand over an effort than the node to compute it.
"""

from __future__ import annotations

import time
from functools import lru_cache
from itertools import cycle
from struct import pack_into, unpack_from

import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from ros2_dyn_interfaces.msg import CollisionState
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import MarkerArray

from ros2_dyn.dynamics import rnea
from ros2_dyn.model import RobotModel
from ros2_dyn.ros.executor import make_executor
from ros2_dyn.ros.outputs import EFFORT_TOPICS

PATIENCE = 30.0
"""Seconds that a node may take to start and to be found."""
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
ENCAPSULATION = 4
"""Bytes before a serialised message, which begins with its stamp."""
FIRST, OTHERS = EFFORT_TOPICS[0], EFFORT_TOPICS[1:]


class Driver:
    """One node under test, in a namespace of its own."""

    def __init__(self, namespace: str, model: RobotModel, detecting: bool = False) -> None:
        self.node = rclpy.create_node("driver", namespace=namespace)
        names = list(model.joint_names)
        wanted = JointTrajectory(joint_names=names, points=[JointTrajectoryPoint(accelerations=[0.5] * model.n)])
        self._desired_bytes = bytearray(serialize_message(wanted))
        self._model = model
        self._state_bytes = cycle(states(model, 100.0))
        self._states = self.node.create_publisher(JointState, "joint_states", 10)
        self._desired = self.node.create_publisher(JointTrajectory, "dynamics/desired", 10)
        self._sent: dict[int, float] = {}
        self.latencies: list[float] = []
        self.node.create_subscription(JointState, f"dynamics/{FIRST}", self._on_effort, 100, raw=True)
        self._executor = make_executor(self.node)
        self._executor.add_node(self.node)
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
        self._state_bytes = cycle(states(self._model, rate))
        count = round(rate * seconds)
        started = time.perf_counter()
        for i in range(count):
            self._send()
            self._spin(started + (i + 1) / rate)
        self._spin(time.perf_counter() + 0.2)
        return count, np.array(self.latencies)

    def _send(self) -> None:
        now = time.time_ns()
        state = next(self._state_bytes)
        for raw in (self._desired_bytes, state):
            pack_into("<iI", raw, ENCAPSULATION, *divmod(now, 10**9))
        self._desired.publish(bytes(self._desired_bytes))
        self._sent[now] = time.perf_counter()
        self._states.publish(bytes(state))

    def _on_effort(self, raw: bytes) -> None:
        now = time.perf_counter()
        sec, nanosec = unpack_from("<iI", raw, ENCAPSULATION)
        sent = self._sent.pop(sec * 10**9 + nanosec, None)
        if sent is not None:
            self.latencies.append(now - sent)

    def _spin(self, until: float) -> None:
        while (left := until - time.perf_counter()) > 0:
            self._executor.spin_once(timeout_sec=left)


@lru_cache(maxsize=8)
def states(model: RobotModel, rate: float) -> list[bytearray]:
    """Return serialised states of an arm that swings freely at 1 rad/s: the node doubts what contradicts itself."""
    angles = np.arange(0.0, 2 * np.pi, 1 / rate)[:, None] + np.arange(model.n)
    q, qd = np.sin(angles), np.cos(angles)
    messages = (
        JointState(name=model.joint_names, position=row[0], velocity=row[1], effort=row[2])
        for row in zip(q, qd, rnea(model, q, qd, -q))
    )
    return [bytearray(serialize_message(message)) for message in messages]
