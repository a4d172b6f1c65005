"""The simulated arm, and the mode of the node that commands it, as their topics tell."""

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
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from ros2_dyn.dynamics import forward_kinematics, jacobian
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.ros.node_base import LATCHED

LONG_PAUSE = 0.05
"""Between two commands, s, from which on it is worth mentioning."""
AT_REST = 2e-3
"""Joint velocity, rad/s, below which the arm counts as at rest, """
REST = 0.2
"""if it lasted so long, s."""


class Sample(NamedTuple):
    """A measured state."""

    t: float
    """Its stamp, s."""
    q: Array
    """rad, shape (6,)."""
    qd: Array
    """rad/s, shape (6,)."""


class Arm:
    """What the arm has told since the demo began."""

    def __init__(self, node: Node, on_state: Callable[[], None] = lambda: None) -> None:
        """Listen to it.

        Args:
            node: which listens.
            on_state: called after each state.
        """
        share = Path(get_package_share_directory("ros2_dyn"))
        self.model = RobotModel.from_urdf_file(share / "config" / "mock_arm.urdf")
        self.on_state = on_state
        self.states: list[Sample] = []
        self.forces: list[tuple[float, Array]] = []
        """Stamps, s, and what all contacts exert on the arm then, N, in the base's axes, shape (3,)."""
        self.over = False
        """Whether states and forces are not to be kept any more."""
        self.contacts: list[float] = []
        """Stamps at which contacts began, s."""
        self.mode, self.mode_at = "", 0.0
        """What the node says, and when that came, s."""
        self._commanded_at: float | None = None
        self._pause = 0.0
        self._clock, self._moved_at = node.get_clock(), 0.0
        node.create_subscription(JointState, "joint_states", self._on_state, qos_profile_sensor_data)
        node.create_subscription(WrenchStamped, "mock_arm/contact_wrench", self._on_wrench, 100)
        node.create_subscription(String, "dynamics/mode", self._on_mode, LATCHED)
        node.create_subscription(Float64MultiArray, "effort_controller/commands", self._on_command, 10)

    @property
    def state(self) -> Sample:
        """The newest."""
        return self.states[-1]

    @property
    def force(self) -> Array:
        """The newest force of all contacts, N, shape (3,)."""
        return self.forces[-1][1] if self.forces else np.zeros(3)

    def tip(self, q: Array) -> Array:
        """Where the tip is at joint positions of shape (..., 6), m, shape (..., 3)."""
        return forward_kinematics(self.model, q)[..., :3, 3]

    def tip_velocity(self, state: Sample) -> Array:
        """Of the tip, m/s, shape (3,)."""
        return (jacobian(self.model, state.q) @ state.qd)[:3]

    @property
    def at_rest(self) -> bool:
        """Whether it has not moved for a while."""
        return bool(self.states) and self.state.t - self._moved_at >= REST

    @property
    def longest_pause_ms(self) -> float:
        """Of the commands, as they arrived here: much more than the period of the states on a busy machine."""
        return 1e3 * self._pause

    @property
    def silence(self) -> float:
        """Time since the newest command, s."""
        return time.monotonic() - (self._commanded_at or 0.0)

    def excuse(self) -> str:
        """What may be to blame where something is not as it should be; empty: nothing."""
        paused = f"; the machine is busy: commands paused for {self.longest_pause_ms:.0f} ms"
        return paused if self._pause > LONG_PAUSE else ""

    def _on_command(self, _: Float64MultiArray) -> None:
        if self._commanded_at is not None and self.mode not in ("", "monitor") and not self.over:
            self._pause = max(self._pause, self.silence)
        self._commanded_at = time.monotonic()

    def _on_state(self, message: JointState) -> None:
        if self.over:
            return
        sample = Sample(seconds(message.header.stamp), np.array(message.position), np.array(message.velocity))
        if not self.states or np.max(np.abs(sample.qd)) > AT_REST:
            self._moved_at = sample.t
        self.states.append(sample)
        self.on_state()

    def _on_wrench(self, message: WrenchStamped) -> None:
        if self.over:
            return
        t, force = seconds(message.header.stamp), message.wrench.force
        before = self.force
        self.forces.append((t, np.array([force.x, force.y, force.z])))
        if self.force.any() and not before.any():
            self.contacts.append(t)

    def _on_mode(self, message: String) -> None:
        self.mode, self.mode_at = message.data, 1e-9 * self._clock.now().nanoseconds


def seconds(stamp: Time) -> float:
    """Of a message, s."""
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)
