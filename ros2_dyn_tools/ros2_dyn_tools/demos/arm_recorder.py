# SPDX-License-Identifier: Apache-2.0
"""Records the states, contacts and commands of the simulated arm, and the mode of the node."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from ament_index_python.packages import get_package_share_directory
from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from ros2_dyn.control.stop.motion import ArmMotion
from ros2_dyn.dynamics import forward_kinematics, jacobian
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.ros.node_base import LATCHED

QUEUE = 1000
"""Messages that may wait for a busy demo; all of these topics are reliable."""


class Sample(NamedTuple):
    """A measured state."""

    t: float
    """Time of the stamp, s."""
    q: Array
    """Joint positions, rad, shape (6,)."""
    qd: Array
    """Joint velocities, rad/s, shape (6,)."""


class ArmRecorder:
    """What the arm and the node have published since the demo began. All times are simulated, s."""

    def __init__(self, node: Node, on_state: Callable[[Sample], None]) -> None:
        """Subscribe.

        Args:
            node: the demo's node.
            on_state: called with each state, after it was recorded.
        """
        share = Path(get_package_share_directory("ros2_dyn"))
        self.model = RobotModel.from_urdf_file(share / "config" / "mock_arm.urdf")
        self.states: list[Sample] = []
        self.forces: list[tuple[float, Array]] = []
        """Times and the sum of the contact forces, N, in the base frame, shape (3,)."""
        self.contacts: list[float] = []
        """Times at which contacts began, s."""
        self.finished = False
        """Whether states and forces are no longer recorded."""
        self.mode, self.mode_at = "", 0.0
        """The node's mode, and the time of the newest state when it was received, s."""
        self.commands = 0
        """Number of commands."""
        self.states_since_command = 0
        """Number of states since the newest command."""
        self._handle_state = on_state
        self._motion = ArmMotion(0.2)
        self._pace_from = self._pace_to = (0.0, 0.0)
        node.create_subscription(JointState, "joint_states", self._on_state, QUEUE)
        node.create_subscription(WrenchStamped, "mock_arm/contact_wrench", self._on_wrench, QUEUE)
        node.create_subscription(String, "dynamics/mode", self._on_mode, LATCHED)
        node.create_subscription(Float64MultiArray, "effort_controller/commands", self._on_command, QUEUE)

    @property
    def state(self) -> Sample:
        """The newest state."""
        return self.states[-1]

    @property
    def t(self) -> float:
        """The time of the newest state, s; 0 before the first."""
        return self.states[-1].t if self.states else 0.0

    @property
    def force(self) -> Array:
        """The newest sum of the contact forces, N, shape (3,)."""
        return self.forces[-1][1] if self.forces else np.zeros(3)

    @property
    def at_rest(self) -> bool:
        """Whether no joint has moved by more than 4e-4 rad for 0.2 s."""
        return self._motion.at_rest(4e-4, 0.2)

    @property
    def pace(self) -> float:
        """Simulated time over wall time since `start_pace`; NaN before the second state."""
        simulated, wall = (to - start for start, to in zip(self._pace_from, self._pace_to))
        return simulated / wall if wall > 0 else float("nan")

    def start_pace(self) -> None:
        """Measure the pace from the newest state on."""
        self._pace_from = self._pace_to

    def tip(self, q: Array) -> Array:
        """Return the position of the tip, m, shape (..., 3), at joint positions of shape (..., 6)."""
        return forward_kinematics(self.model, q)[..., :3, 3]

    def tip_velocity(self, state: Sample) -> Array:
        """Return the velocity of the tip, m/s, shape (3,)."""
        return (jacobian(self.model, state.q) @ state.qd)[:3]

    def _on_command(self, _: Float64MultiArray) -> None:
        self.commands += 1
        self.states_since_command = 0

    def _on_state(self, message: JointState) -> None:
        self.states_since_command += 1
        t, q, qd = seconds(message.header.stamp), np.array(message.position), np.array(message.velocity)
        state = Sample(t, q, qd)
        if not self.finished:
            self._record(state)
        self._handle_state(state)

    def _record(self, state: Sample) -> None:
        self._motion.add(state.t, state.q)
        self._pace_to = state.t, time.monotonic()
        if not self.states:
            self.start_pace()
        self.states.append(state)

    def _on_wrench(self, message: WrenchStamped) -> None:
        if self.finished:
            return
        t, force = seconds(message.header.stamp), message.wrench.force
        touched = self.force.any()
        self.forces.append((t, np.array([force.x, force.y, force.z])))
        if self.force.any() and not touched:
            self.contacts.append(t)

    def _on_mode(self, message: String) -> None:
        self.mode, self.mode_at = message.data, self.t


def seconds(stamp: Time) -> float:
    """Return the time of a stamp, s."""
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)
