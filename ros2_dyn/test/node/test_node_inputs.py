# SPDX-License-Identifier: Apache-2.0
"""What the node reads: messages of any layout and order, from any publisher, by either executor."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import MOCK_ARM

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from rcl_interfaces.msg import Log
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from ros2_dyn_interfaces.msg import HybridTarget

from driven_arms import MODEL, StandingArm
from driver import Driver, point
from ros2_dyn.dynamics import rnea
from ros_harness import words

QDD = np.array([1.0, 2.0, -1.0, 0.5, -0.5, 3.0])


def test_states_of_any_publisher_are_read_and_a_late_subscriber_gets_outputs(listener, begin):
    """Drivers publish reliably or with best effort. The node notices a subscriber while it runs."""
    driver = begin()
    for reliability in (ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT):
        driver.end_states()
        driver.begin_states(QoSProfile(depth=1, reliability=reliability, durability=DurabilityPolicy.VOLATILE))
        assert driver.recovers(10.0)
    late = listener.listen("dynamics/coriolis")  # before, the topic cost nothing
    driver.until(lambda: late, "nothing for the late subscriber")
    log, hybrid = listener.listen("/rosout", type=Log), listener.publisher(HybridTarget, "dynamics/desired_hybrid")
    pressed = HybridTarget(force_axes=[False, False, True, False, False, False])
    pressed.wrench.force.z, pressed.pose.orientation.w = -10.0, 1.0
    hybrid.publish(pressed)
    driver.step()
    pressed.wrench.force.x = 3.0
    hybrid.publish(pressed)
    problem = "wrench.force.x: held axis"
    listener.until(lambda: any(problem in entry.msg for entry in log), "no word of the wrong hybrid target")
    assert sum("desired_hybrid" in entry.msg for entry in log) == 1
    driver.close()


def test_ordinary_executor_gives_the_same_outputs(listener, start):
    """Bit by bit, with desired states and without."""
    for name, value in (("events", "1"), ("ordinary", "0")):
        remaps = ("-r", f"__ns:=/{name}", "-r", "joint_states:=/joint_states")
        remaps += ("-r", "~/desired:=/dynamics/desired", "-r", "~/desired_wrench:=/dynamics/desired_wrench")
        start("ros2_dyn.ros.dynamics_node", *remaps, *words(urdf_file=str(MOCK_ARM)), ROS2_DYN_EVENTS_EXECUTOR=value)
    topics = [f"dynamics/{name}" for name in ("inverse_dynamics", "gravity", "coriolis")]
    for topic in topics:
        listener.listen(f"events/{topic}", f"ordinary/{topic}")
    driver = Driver(listener, arm=StandingArm(speed=0.5), answers="/events/dynamics/gravity")

    def come(count: int):
        return lambda: min(map(len, listener.received.values())) >= count

    listener.until(lambda: driver.recovers(0.01, 0.05) and come(1)(), "no efforts")
    for desired in (None, lambda: point((), (), QDD)):
        driver.desired = desired
        for _ in range(20):
            state = driver.step()
            rows = [driver.newest(state, f"events/{topic}", f"ordinary/{topic}") for topic in topics]
            assert all(events == ordinary for events, ordinary in rows)
    tau = rnea(MODEL, state.position, state.velocity, QDD)
    assert_allclose(rows[0][0].effort, tau, rtol=0, atol=1e-10)
