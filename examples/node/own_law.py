"""A control law of your own as a node, without any mode of this package: a spring draws each joint to where it began.

You learn gravity, inertia, limits and collisions at every state. It commands: simulate first, see docs/examples.md.
"""

import argparse

import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ros2_dyn import RobotModel, compile_kernel
from ros2_dyn.control.effort_limiter import CommandLimits, EffortLimiter
from ros2_dyn.estimation import OBSERVER_TERMS, CollisionDetector, MomentumObserver

BANDWIDTH, REACH = 5.0, 0.1  # rad/s; rad from which the spring pulls no more: home from afar, by 0.25 rad/s
SLEW_TIME, THRESHOLD = 0.5, 0.2  # s for the whole effort limit; part of the effort limit


class OwnLaw:
    """The law, without ROS: call it with each state."""

    def __init__(self, model: RobotModel, q: np.ndarray, effort: np.ndarray, now: float) -> None:
        """Begin where the arm is, with the efforts that its joints exert; shapes (n,), time in s."""
        self.terms = compile_kernel(model, (*OBSERVER_TERMS, "mass_matrix"), inputs=("q", "qd"))
        self.observer, self.detector = MomentumObserver(25.0), CollisionDetector(THRESHOLD * model.effort_limit)
        limit = model.effort_limit
        self.limiter = EffortLimiter(CommandLimits(model.joint_names, limit, limit / SLEW_TIME, model.velocity_limit))
        self.limiter.start(effort, now)
        self.home = q

    def __call__(self, q: np.ndarray, qd: np.ndarray, effort: np.ndarray, now: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the efforts, and the part of them that is gravity. From a collision on the arm gives way, damped."""
        *terms, M = map(np.array, self.terms(q.tolist(), qd.tolist()))
        gravity = terms[OBSERVER_TERMS.index("gravity")]
        self.observer.observe(now, effort, terms)
        self.detector.update(self.observer.value)
        spring = 0.0 if self.detector.collision else BANDWIDTH**2 * np.clip(self.home - q, -REACH, REACH)
        command, _ = self.limiter.limit(gravity + M @ (spring - 2 * BANDWIDTH * qd), now)
        return command, gravity


class OwnLawNode(Node):
    """The law between `joint_states` and `command`."""

    def __init__(self, model: RobotModel, beyond_gravity: bool) -> None:
        """Make the node; `beyond_gravity`: a GravityController carries the arm, and the command is what is added."""
        super().__init__("own_law")
        self.model, self.beyond_gravity, self.law = model, beyond_gravity, None
        self.command = self.create_publisher(Float64MultiArray, "command", 1)
        self.create_subscription(JointState, "joint_states", self.on_state, qos_profile_sensor_data)

    def on_state(self, state: JointState) -> None:
        """Command the efforts of one state, whose joints may come in any order."""
        at = [state.name.index(name) for name in self.model.joint_names]
        q, qd, effort = (np.array(values)[at] for values in (state.position, state.velocity, state.effort))
        now = state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec
        self.law = self.law or OwnLaw(self.model, q, effort, now)
        command, gravity = self.law(q, qd, effort, now)
        self.command.publish(Float64MultiArray(data=(command - self.beyond_gravity * gravity).tolist()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("urdf")
    parser.add_argument("--beyond-gravity", action="store_true", help="a GravityController carries the arm")
    given = parser.parse_args(rclpy.utilities.remove_ros_args()[1:])
    rclpy.init()
    rclpy.spin(OwnLawNode(RobotModel.from_urdf_file(given.urdf), given.beyond_gravity))
