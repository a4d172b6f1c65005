"""A joint trajectory with and without the model's efforts: how far the simulated arm is from it.

You learn `~/desired_trajectory`, which the node answers with the effort of every point. Start arm and node first:
docs/first_hour.md.
"""

import numpy as np
import rclpy
from collision import call
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.time import Time
from ros2_dyn_interfaces.srv import SwitchController
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

AMPLITUDE, SECONDS = 0.4, 4.0


def motion(joints: list[str], t: float) -> np.ndarray:
    """Return way, velocity and acceleration of all joints at a time, shape (3, n): a swing to one side and back."""
    w, moves = 2 * np.pi / SECONDS, np.array([0.0 if "finger" in name else AMPLITUDE / 2 for name in joints])
    return np.outer([1 - np.cos(w * t), w * np.sin(w * t), w**2 * np.cos(w * t)], moves)


def send(node: Node, topic: str, home: JointState, wait: float) -> Time:
    """Publish the motion from a place on a topic, to begin after a wait, s; return that time."""
    publisher = node.create_publisher(JointTrajectory, topic, 1)
    while not publisher.get_subscription_count():
        rclpy.spin_once(node)
    start = Time.from_msg(home.header.stamp) + Duration(seconds=wait)
    message = JointTrajectory(joint_names=home.name)
    message.header.stamp = start.to_msg()
    for t in np.linspace(0.0, SECONDS, 81):
        way, velocity, acceleration = motion(home.name, t)
        point = JointTrajectoryPoint(velocities=velocity.tolist(), accelerations=acceleration.tolist())
        point.positions = (np.array(home.position) + way).tolist()
        point.time_from_start = Duration(seconds=t).to_msg()
        message.points.append(point)
    publisher.publish(message)
    return start


def track(node: Node, topic: str, wait: float = 2.0) -> float:
    """Let the arm follow the motion that is published on a topic; return its RMS error over the second half, rad."""
    states, arrived, errors = [], [], []
    node.create_subscription(JointState, "/joint_states", states.append, 100)
    node.create_subscription(JointTrajectory, "/trajectory_controller/joint_trajectory", arrived.append, 10)
    while not states:
        rclpy.spin_once(node)
    home = states[-1]
    start = send(node, topic, home, wait)
    while (t := (Time.from_msg(states[-1].header.stamp) - start).nanoseconds * 1e-9) < SECONDS:
        if t > 0 and not arrived:  # the first efforts take longer
            return track(node, topic, 2 * wait)
        if t > SECONDS / 2:
            errors.append(np.array(states[-1].position) - home.position - motion(home.name, t)[0])
        rclpy.spin_once(node)
    return float(np.sqrt(np.mean(np.square(errors))))


def main() -> dict[str, float]:
    """Track the motion by the controller alone, and with the efforts that the node adds; return the errors, rad."""
    rclpy.init()
    node = rclpy.create_node("example_feed_forward")
    call(node, SwitchController, "/mock_arm/switch_controller", controller="trajectory_controller")
    errors = {
        "alone": track(node, "/trajectory_controller/joint_trajectory"),
        "with efforts": track(node, "/dynamics/desired_trajectory"),
    }
    for name, error in errors.items():
        print(f"{name}: RMS error {1e3 * error:.2f} mrad")
    call(node, SwitchController, "/mock_arm/switch_controller", controller="demo_controller")
    rclpy.shutdown()
    return errors


if __name__ == "__main__":
    main()
