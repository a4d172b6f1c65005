"""The fault matrix of docs/node.md.

After each fault the node lives, has published nothing that is not finite, and is right again within one second of good
input, by the stamps of that input.
"""

import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from robots import MOCK_ARM, joint, link, mock_arm, robot

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from builtin_interfaces.msg import Time
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_dyn.dynamics import coriolis, gravity, rnea
from ros2_dyn.ros.node_base import LATCHED
from ros_harness import Listener, Process

MODEL = mock_arm()
NAMES = list(MODEL.joint_names)
EFFORTS = ("inverse_dynamics", "gravity", "coriolis", "friction")
PERIOD = 10_000_000
"""Of the states, ns."""
URDF = MOCK_ARM.read_text(encoding="utf-8")
NAN, INF = float("nan"), float("inf")


class Rig:
    """A driver that plays states of a moving arm to the node, and what comes back."""

    def __init__(self, listener: Listener, process: Process, simulated: bool) -> None:
        self.listener, self.process, self.simulated = listener, process, simulated
        self.time = 1000 * 10**9
        listener.listen(*(f"dynamics/{name}" for name in EFFORTS))
        self.descriptions = listener.publisher(String, "robot_description", LATCHED)
        self.states = listener.publisher(JointState, "joint_states")
        self.desired = listener.publisher(JointTrajectory, "dynamics/desired")
        self.clock = listener.node.create_publisher(Clock, "/clock", 10)
        self.descriptions.publish(String(data=URDF))

    def step(self, **changes) -> JointState:
        """Publish the state of the next instant, with some fields changed."""
        self.time += PERIOD
        return self.play(**changes)

    def play(self, publisher=None, **changes) -> JointState:
        """Publish the state of this instant, with some fields changed."""
        message = JointState(name=NAMES)
        message.header.stamp = stamp = Time(sec=self.time // 10**9, nanosec=self.time % 10**9)
        if self.simulated:
            self.clock.publish(Clock(clock=stamp))
        phase = 1e-9 * (self.time % 10**12) + np.arange(6)
        message.position, message.velocity = np.sin(phase), np.cos(phase)
        for field, value in changes.items():
            setattr(message, field, value)
        (publisher or self.states).publish(message)
        self.spin()
        return message

    def spin(self) -> None:
        """Let messages come and go."""
        for _ in range(4):
            self.listener.executor.spin_once(timeout_sec=0.002)

    def answer(self, message: JointState) -> dict[str, list[float]]:
        """The efforts that came for a state, by topic."""
        stamp = message.header.stamp
        found = {name: self.listener.received[f"dynamics/{name}"] for name in EFFORTS}
        return {name: m.effort for name, messages in found.items() for m in messages[-8:] if m.header.stamp == stamp}

    def right(self) -> bool:
        """Publish a good state; whether all efforts that belong to it come."""
        message = self.step()
        q, qd = message.position, message.velocity
        deadline = time.monotonic() + 0.03
        while len(efforts := self.answer(message)) < len(EFFORTS) and time.monotonic() < deadline:
            self.listener.executor.spin_once(timeout_sec=0.002)
        expected = {"gravity": gravity(MODEL, q), "coriolis": coriolis(MODEL, q, qd), "friction": np.zeros(6)}
        expected["inverse_dynamics"] = rnea(MODEL, q, qd, np.zeros(6))
        return set(efforts) == set(EFFORTS) and all(
            np.allclose(efforts[name], expected[name], rtol=0, atol=1e-9) for name in EFFORTS
        )


@pytest.fixture(scope="module", params=[False, True], ids=["system time", "simulated time"])
def rig(request) -> Iterator[Rig]:
    """One node, that goes through all faults."""
    listener = Listener()
    process = Process("ros2_dyn.ros.dynamics_node", "-p", f"use_sim_time:={request.param}")
    rig = Rig(listener, process, request.param)
    listener.until(rig.right, "the node is not right to begin with")
    yield rig
    printed = process.stop()
    listener.close()
    assert "Traceback" not in printed
    assert process.process.returncode == 0


def repeated(**changes) -> Callable[[Rig], None]:
    """A fault of the message, for a fifth of a second."""

    def inject(rig: Rig) -> None:
        for _ in range(20):
            rig.step(**changes)

    return inject


def stamps(*steps: int) -> Callable[[Rig], None]:
    """The driver's clock makes steps, ns, and goes on from there."""

    def inject(rig: Rig) -> None:
        for step in steps:
            rig.time += step
            rig.step()

    return inject


def reordered(rig: Rig) -> None:
    """Each two states come the wrong way round."""
    for _ in range(10):
        rig.time += 2 * PERIOD
        rig.play()
        rig.time -= PERIOD
        rig.play()
        rig.time += PERIOD


def doubled(rig: Rig) -> None:
    """Each message comes three times."""
    for _ in range(10):
        rig.step()
        rig.play()
        rig.play()


def two_publishers(rig: Rig) -> None:
    """Another driver, that lags behind, speaks of the same joints on the same topic."""
    other = rig.listener.node.create_publisher(JointState, "joint_states", 10)
    for _ in range(20):
        rig.step()
        rig.time -= 3 * PERIOD // 2
        rig.play(other)
        rig.time += 3 * PERIOD // 2
    rig.listener.node.destroy_publisher(other)


def halves(rig: Rig) -> None:
    """One half of the joints falls silent."""
    for _ in range(20):
        rig.step(name=NAMES[:3], position=[0.1] * 3, velocity=[0.1] * 3)


def burst(rig: Rig) -> None:
    """A thousand states at once."""
    for _ in range(1000):
        rig.time += PERIOD // 10
        message = JointState(name=NAMES, position=[0.1] * 6, velocity=[0.1] * 6)
        message.header.stamp = Time(sec=rig.time // 10**9, nanosec=rig.time % 10**9)
        rig.states.publish(message)


def silence(rig: Rig) -> None:
    """The driver stops for half a second, of its own time as well."""
    rig.time += 10**9 // 2
    for _ in range(50):
        rig.spin()


def desired_nonsense(rig: Rig) -> None:
    """Desired states that cannot be used; meanwhile all goes on without them."""
    for accelerations in ([], [1.0], [NAN] * 6, [INF] * 6, [1e308] * 6):
        point = JointTrajectoryPoint(accelerations=accelerations)
        rig.desired.publish(JointTrajectory(joint_names=NAMES, points=[point]))
        assert any(rig.right() for _ in range(3))


def descriptions(rig: Rig) -> None:
    """Robots that are none, or do not fit; another one; and the first again."""
    floating = robot(link("a"), link("b", 1.0), joint("free", "floating", "a", "b"))
    other = robot(link("a"), link("b", 1.0), joint("elbow_joint", "revolute", "a", "b"))
    for xml in ("", "<robot", floating, other, URDF):
        rig.descriptions.publish(String(data=xml))
        for _ in range(5):
            rig.step()


def parameters(rig: Rig) -> None:
    """Changes that are refused."""
    for name, value in (("gravity", [NAN, 0.0, 0.0]), ("tip_link", "hand"), ("joints", ["nose"])):
        message = Parameter(name, value=value).to_parameter_msg()
        answer = rig.listener.call(SetParametersAtomically, "dynamics/set_parameters_atomically", parameters=[message])
        assert not answer.result.successful
        rig.step()


FAULTS = {
    "no names": repeated(name=[]),
    "a joint named twice": repeated(name=[NAMES[0]] * 6),
    "none of the joints": repeated(name=["finger"], position=[0.1], velocity=[0.1]),
    "some of the joints": halves,
    "too few positions": repeated(position=[0.1] * 4),
    "too many velocities": repeated(velocity=[0.1] * 7),
    "a NaN position": repeated(position=[NAN] * 6),
    "an infinite position": repeated(position=[0.1] * 5 + [INF]),
    "NaN velocities": repeated(velocity=[NAN] * 6),
    "no velocities": repeated(velocity=[]),
    "NaN efforts": repeated(effort=[NAN] * 6),
    "too few efforts": repeated(effort=[1.0]),
    "huge velocities": repeated(velocity=[1e200] * 6),
    "huge positions": repeated(position=[1e300] * 6),
    "repeated messages": doubled,
    "reordered messages": reordered,
    "stamps that go back a little": stamps(-30_000_000, -5_000_000),
    "stamps that go back far": stamps(-30 * 10**9),
    "stamps that jump ahead and back": stamps(3600 * 10**9, -3600 * 10**9),
    "stamps that jump ahead a little and back": stamps(9 * 10**8, -9 * 10**8),
    "zero stamps": lambda rig: [rig.step(header=JointState().header) for _ in range(20)],
    "two publishers": two_publishers,
    "a burst": burst,
    "silence": silence,
    "desired states that cannot be used": desired_nonsense,
    "robot descriptions": descriptions,
    "parameters": parameters,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_node_is_right_again(rig, fault):
    """Within a hundred states of 10 ms."""
    FAULTS[fault](rig)
    assert any(rig.right() for _ in range(100)), "not right within one second of good input"
    assert rig.process.alive
    received = [m for name in EFFORTS for m in rig.listener.received[f"dynamics/{name}"]]
    assert all(np.all(np.isfinite(message.effort)) for message in received)
