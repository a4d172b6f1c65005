# SPDX-License-Identifier: Apache-2.0
"""What the mock arm publishes: states as a driver measures them, and the exact motion and contact wrench."""

from __future__ import annotations

from array import array

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Header, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_dyn.ros.messages import put_wrench, time_message
from ros2_dyn.ros.mock_arm_parameters import MockArmSettings
from ros2_dyn.ros.node_base import LATCHED
from ros2_dyn.simulation.lossy_channel import LossyChannel
from ros2_dyn.simulation.perturbed import quantise
from ros2_dyn.simulation.simulated_arm import Motion, SimulatedArm


class MockArmOutputs:
    """Publishes `joint_states` with noise and through a channel, and `~/reference` and `~/contact_wrench` without.

    The three messages of one instant have the same stamp.
    """

    def __init__(self, node: Node, settings: MockArmSettings, arm: SimulatedArm) -> None:
        """Create the publishers, and publish the robot description."""
        self._arm = arm
        self._states = node.create_publisher(JointState, "joint_states", 10)
        self._reference = node.create_publisher(JointTrajectory, "~/reference", 10)
        self._contact_wrench = node.create_publisher(WrenchStamped, "~/contact_wrench", 10)
        self._description = node.create_publisher(String, "robot_description", LATCHED)
        self._description.publish(String(data=settings.urdf_path.read_text(encoding="utf-8")))

        self._noise = settings.position_noise, settings.velocity_noise, settings.effort_noise
        self._resolution = settings.effort_resolution
        self._random = np.random.default_rng(settings.seed)
        self._channel: LossyChannel[JointState] | None = None
        if max(settings.drop_rate, settings.delay, settings.delay_jitter) > 0:
            rng = np.random.default_rng([settings.seed, 1])
            self._channel = LossyChannel(rng, settings.drop_rate, settings.delay, settings.delay_jitter)
        self._names = list(arm.model.joint_names)
        self._reference_message = JointTrajectory(joint_names=self._names, points=[JointTrajectoryPoint()])

    @property
    def delays(self) -> bool:
        """Whether states travel through a channel, so that `deliver` has to be called."""
        return self._channel is not None

    def publish(self, motion: Motion, nanoseconds: int) -> int:
        """Publish an instant under a stamp, ns; return the number of joint states that have left."""
        stamp = time_message(nanoseconds)
        reference = self._reference_message
        reference.header.stamp = stamp
        reference.points[0].positions = array("d", motion.q)
        reference.points[0].velocities = array("d", motion.qd)
        reference.points[0].accelerations = array("d", motion.qdd)
        self._reference.publish(reference)  # first, so that it is there when the state is
        header = Header(stamp=stamp, frame_id=self._arm.model.base_link)
        published = self._send(self._measured(motion, header), nanoseconds * 1e-9)
        if self._contact_wrench.get_subscription_count() > 0:
            self._contact_wrench.publish(self._wrench(header))  # last: no node waits for it
        return published

    def _send(self, state: JointState, now: float) -> int:
        if self._channel is None:
            self._states.publish(state)
            return 1
        self._channel.send(now, state)
        return self.deliver(now)

    def deliver(self, now: float) -> int:
        """Publish the states whose delay is over at a time, s; return their number."""
        states = list(self._channel.due(now)) if self._channel is not None else []
        for state in states:
            self._states.publish(state)
        return len(states)

    def clear(self) -> None:
        """Lose the states that are under way."""
        if self._channel is not None:
            self._channel.clear()

    def _measured(self, motion: Motion, header: Header) -> JointState:
        q, qd, tau = (
            value + self._random.normal(0.0, sigma, value.shape) if sigma > 0 else value
            for value, sigma in zip((motion.q, motion.qd, motion.tau), self._noise)
        )
        efforts = array("d", quantise(tau, self._resolution))
        return JointState(
            header=header, name=self._names, position=array("d", q), velocity=array("d", qd), effort=efforts
        )

    def _wrench(self, header: Header) -> WrenchStamped:
        """The wrench of all contacts on the arm, about the origin of the tip, in the axes of the base frame."""
        message = WrenchStamped(header=header)
        put_wrench(message.wrench, self._arm.contact_wrench().tolist())
        return message
