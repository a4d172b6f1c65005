# SPDX-License-Identifier: Apache-2.0
"""The mock arm as a process: its clock, services, controllers and errors. It runs as fast as the machine allows.

Nothing here is measured in wall time: messages are compared by their stamps, and some of them may get lost.
"""

import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import HOME, mock_arm

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from geometry_msgs.msg import Point, Vector3, WrenchStamped
from ros2_dyn_interfaces.srv import ApplyContact, LeadHand, SwitchController
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from ros2_dyn.dynamics import forward_kinematics, friction, rnea, static_torque
from ros2_dyn.simulation.perturbed import with_friction
from ros_harness import PATIENCE, Listener, Process

MODEL = mock_arm()
PERIOD = 4_000_000
"""Of the states, ns."""
QUEUE = 10
"""Messages that wait for a slow test at most, so that it is never far behind."""
FREE = "publish_clock:=true", "pace:=0.0"


def ns(message) -> int:
    """Return its stamp."""
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


class Arm:
    """The process, and what it has published, by stamp."""

    def __init__(self, listener: Listener, *parameters: str) -> None:
        words = [word for parameter in (f"home:={HOME}", *parameters) for word in ("-p", parameter)]
        self.listener, self.process = listener, Process("ros2_dyn.ros.mock_arm_node", *words)
        self.states: dict[int, JointState] = {}
        self.references: dict[int, JointTrajectory] = {}
        self.wrenches: dict[int, WrenchStamped] = {}
        self.newest = 0
        for kind, topic, kept in (
            (JointState, "joint_states", self.states),
            (JointTrajectory, "mock_arm/reference", self.references),
            (WrenchStamped, "mock_arm/contact_wrench", self.wrenches),
        ):
            listener.node.create_subscription(kind, topic, lambda m, kept=kept: self._keep(m, kept), QUEUE)

    def _keep(self, message, kept: dict) -> None:
        kept[ns(message)] = message
        self.newest = ns(message)

    def run(self, seconds: float) -> None:
        """Wait until the arm has gone on by a time, s."""
        self.listener.until(lambda: bool(self.states), "the arm is silent")
        end = self.newest + round(seconds * 1e9)
        self.listener.until(lambda: self.newest >= end, "the arm is silent")

    def last(self) -> JointState:
        """Return a state that was measured from now on."""
        self.run((2 * QUEUE + 10) * PERIOD * 1e-9)
        return list(self.states.values())[-1]

    def unexplained(self, model=MODEL) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """Return positions, and the efforts that the motion needs beyond what the motors apply, by stamp."""
        stamps = [stamp for stamp in self.states if stamp in self.references]
        points = [self.references[stamp].points[0] for stamp in stamps]
        q, qd, qdd = np.swapaxes([(p.positions, p.velocities, p.accelerations) for p in points], 0, 1)
        efforts = rnea(model, q, qd, qdd) + friction(model, qd) - [self.states[stamp].effort for stamp in stamps]
        return {stamp: (q[k], efforts[k]) for k, stamp in enumerate(stamps)}

    def apply(self, **request) -> ApplyContact.Response:
        """Call the service."""
        return self.listener.call(ApplyContact, "mock_arm/apply_contact", **request)

    def switch(self, controller: str) -> SwitchController.Response:
        """Call the service."""
        return self.listener.call(SwitchController, "mock_arm/switch_controller", controller=controller)


@pytest.fixture
def start(listener) -> Iterator[Callable[..., Arm]]:
    """Start an arm, with parameters as on the command line."""
    arms: list[Arm] = []

    def start(*parameters: str) -> Arm:
        arms.append(Arm(listener, *parameters))
        return arms[-1]

    yield start
    for arm in arms:
        if arm.process.alive:
            arm.process.stop()


def test_without_a_clock_of_its_own_the_stamps_are_of_the_system_clock(start):
    before = time.time_ns()
    arm = start()
    arm.run(0.1)
    assert before <= min(arm.states)
    assert max(arm.states) <= time.time_ns()


def test_with_use_sim_time_the_arm_follows_an_external_clock(start):
    arm = start("use_sim_time:=true")
    clock = arm.listener.publisher(Clock, "/clock")
    now = 5_000_000_000

    def later() -> bool:
        nonlocal now
        now += PERIOD
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(now, 10**9)
        clock.publish(message)
        return max(arm.states, default=0) > 6_000_000_000

    arm.listener.until(later, "the arm does not follow the clock")
    assert min(arm.states) > 5_000_000_000
    assert max(arm.states) <= now


def test_the_published_clock_starts_at_zero_and_each_state_is_one_period_later_under_its_stamp(start):
    arm = start(*FREE)
    clocks: list[int] = []
    arm.listener.node.create_subscription(
        Clock, "/clock", lambda message: clocks.append(message.clock.sec * 10**9 + message.clock.nanosec), QUEUE
    )
    arm.run(2.0)
    assert all(stamp % PERIOD == 0 for stamp in [*arm.states, *arm.references, *clocks])
    assert len(clocks) > 10
    assert np.all(np.diff(clocks) > 0)
    assert min(arm.states) < 60 * 10**9  # of no clock that runs since 1970
    assert set(arm.states) & set(clocks)
    printed = arm.process.stop()
    assert "of real time, 0 states without a command" in printed
    assert "Failed" not in printed


def test_in_lockstep_no_state_comes_before_the_last_one_is_answered(start):
    arm = start(*FREE, "controller:=effort_controller", "lockstep:=true", "lockstep_timeout:=60.0")
    command = arm.listener.publisher(Float64MultiArray, "effort_controller/commands")
    effort = Float64MultiArray(data=[0.5] * 6)
    arm.run(0.1)
    command.publish(effort)  # from now on states are awaited; those that are under way may still come
    arm.listener.until(lambda: np.allclose(list(arm.states.values())[-1].effort, 0.5), "the command was not taken")
    arm.listener.spin(0.5)
    for _ in range(20):
        before = max(arm.states)
        command.publish(effort)
        arm.listener.until(lambda before=before: max(arm.states) > before, "the answer was not noticed")
        assert max(arm.states) == before + PERIOD
    arm.listener.spin(0.5)
    assert max(arm.states) == before + PERIOD
    assert arm.switch(SwitchController.Request.TRAJECTORY).success  # takes no commands
    arm.run(0.5)
    assert "0 states without a command" in arm.process.stop()


def test_a_contact_of_the_service_acts_from_its_delay_for_its_duration(start):
    arm = start("publish_clock:=true")  # as fast as it can, the contact would pass while a busy listener waits
    arm.run(0.2)
    force, point = Vector3(x=5.0, y=-20.0, z=10.0), Point(x=0.1, z=0.05)
    before = arm.newest
    answer = arm.apply(link="forearm_link", point=point, force=force, profile="step", duration=0.5, delay=0.2)
    assert (answer.success, answer.message) == (True, "")
    arm.run(0.2)
    arm.listener.until(lambda: any(message.wrench.force.y for message in arm.wrenches.values()), "no contact")
    arm.run(0.8)
    touching = [stamp for stamp, (_, effort) in arm.unexplained().items() if np.abs(effort).max() > 1e-3]
    assert touching[0] >= before + 200_000_000
    assert 0 < (touching[-1] - touching[0]) * 1e-9 <= 0.5  # a busy listener loses states
    for stamp, (q, effort) in arm.unexplained().items():
        inside = touching[0] <= stamp <= touching[-1]
        if inside or not touching[0] - 10**8 < stamp < touching[-1] + 10**8:  # states at its ends may be lost
            expected = static_torque(MODEL, q, [5.0, -20.0, 10.0, 0, 0, 0], "forearm_link", [0.1, 0, 0.05])
            assert_allclose(effort, expected if inside else np.zeros(6), rtol=0, atol=1e-6)


def test_contacts_and_hands_that_make_no_sense_are_rejected_with_what_was_expected_and_the_arm_goes_on(start):
    arm = start(*FREE)
    good = {"force": Vector3(x=1.0), "profile": "step", "duration": 1.0}
    for wrong, problem in (
        ({"link": "hand"}, "link: the robot 'mock_arm' has no link 'hand'; it has base_link, "),
        ({"profile": "kick"}, "expected one of impulse, step, ramp, sinusoid, got kick"),
        ({"delay": np.nan}, "delay: expected a finite number of seconds, not negative, got nan"),
    ):
        answer = arm.apply(**good | wrong)
        assert not answer.success
        assert problem in answer.message
    hand = {"displacement": Vector3(z=-0.1), "duration": 0.6, "link": "hand"}
    answer = arm.listener.call(LeadHand, "mock_arm/lead_hand", **hand)
    assert not answer.success
    assert "link: the robot 'mock_arm' has no link 'hand'" in answer.message
    arm.run(0.2)
    assert all(np.abs(effort).max() < 1e-6 for _, effort in arm.unexplained().values())


def test_an_arm_that_diverges_starts_again_and_its_stamps_go_on(start):
    arm = start(*FREE)
    arm.run(1.0)
    for force in (1e7, 1e300):
        before = arm.newest
        assert arm.apply(force=Vector3(x=force), profile="step", duration=1.0).success
        arm.run(0.5)
        assert arm.newest > before
    assert list(arm.states) == sorted(arm.states)
    assert all(np.all(np.isfinite(state.position)) for state in arm.states.values())
    _, effort = list(arm.unexplained().values())[-1]
    assert np.abs(effort).max() < 1e-6
    printed = arm.process.stop()
    assert "the arm starts again, without contacts but for walls: t = " in printed
    assert "Traceback" not in printed
    assert arm.process.process.returncode == 0


def test_controllers_are_switched_and_the_effort_controller_takes_commands(start):
    arm = start(*FREE)
    command = arm.listener.publisher(Float64MultiArray, "effort_controller/commands")
    arm.run(0.4)
    command.publish(Float64MultiArray(data=[1.0] * 6))
    refused = "command refused: effort_controller is not active, but demo_controller"
    arm.listener.until(lambda: refused in arm.process.printed, "the refusal was not told")
    answer = arm.switch("gripper_controller")
    assert not answer.success
    assert "expected one of demo_controller, effort_controller, trajectory_controller" in answer.message
    assert not any(np.allclose(state.effort, [1.0] * 6) for state in arm.states.values())  # still the demo

    assert arm.switch(SwitchController.Request.EFFORT).success
    held = arm.last().effort
    stamps, efforts = np.array(list(arm.states)), np.array([state.effort for state in arm.states.values()])
    rates = np.diff(efforts, axis=0) / (1e-9 * np.diff(stamps))[:, None]
    assert np.abs(rates).max() < 250  # N m/s: no step at the switch; in 4 ms 1 of some 40 N m that the arm weighs
    assert_allclose(arm.last().effort, held)

    command.publish(Float64MultiArray(data=[5.0, -1000.0, 1000.0, 1.0, 0.5, 0.1]))
    taken = [5.0, -150.0, 150.0, 1.0, 0.5, 0.1]  # saturated
    arm.listener.until(lambda: np.allclose(arm.last().effort, taken), "the command was not taken")
    time.sleep(1.1)  # another refusal is logged
    command.publish(Float64MultiArray(data=[0.0] * 5))
    refused = "command refused: expected 6 efforts, got 5"
    arm.listener.until(lambda: refused in arm.process.printed, "the refusal was not told")
    assert_allclose(arm.last().effort, taken)

    assert arm.switch(SwitchController.Request.DEMO).success
    assert not np.allclose(arm.last().effort, taken)
    arm.process.stop()
    assert arm.process.process.returncode == 0


def test_a_hand_of_the_service_leads_the_arm_to_the_wall_of_the_parameters(start):
    tip = forward_kinematics(MODEL, HOME)[:3, 3]
    rubbing = with_friction(MODEL, [5.0, 5.0, 5.0, 1.0, 1.0, 1.0])
    pull, press, deadline = 0.0, 0.0, time.monotonic() + PATIENCE
    while pull > -5.0 or press < 5.0:  # a busy machine may miss much of the motion: then another arm
        assert time.monotonic() < deadline, (pull, press)
        arm = start(
            "publish_clock:=true",  # as fast as it can, the motion would pass while a busy listener waits
            "controller:=effort_controller",
            "viscous_friction:=[5.0, 5.0, 5.0, 1.0, 1.0, 1.0]",
            f"wall_point:={(tip - [0, 0, 0.02]).tolist()}",
            "wall_normal:=[0.0, 0.0, 2.0]",
        )
        arm.run(0.2)
        assert_allclose(arm.last().position, HOME, rtol=0, atol=1e-9)  # held by the efforts that carry it
        hand = {"displacement": Vector3(z=-0.1), "duration": 0.6, "hold": 0.2, "delay": 0.1, "max_force": 30.0}
        answer = arm.listener.call(LeadHand, "mock_arm/lead_hand", **hand)
        assert (answer.success, answer.message) == (True, "")
        arm.run(1.5)
        arm.process.stop()
        assert {message.header.frame_id for message in arm.wrenches.values()} == {"base_link"}
        forces = {
            stamp: [(v.x, v.y, v.z) for v in (m.wrench.force, m.wrench.torque)] for stamp, m in arm.wrenches.items()
        }
        compared = [
            (q, effort, forces[stamp]) for stamp, (q, effort) in arm.unexplained(rubbing).items() if stamp in forces
        ]
        pull, press = (extreme(wrench[0][2] for _, _, wrench in compared) for extreme in (min, max))
    for q, effort, wrench in compared:
        assert_allclose(effort, static_torque(MODEL, q, np.ravel(wrench)), rtol=0, atol=1e-6)
    assert pull >= -30.0 - 1e-9
    assert tip[2] - 0.025 < min(forward_kinematics(MODEL, q)[2, 3] for q, _, _ in compared) < tip[2] - 0.02


def test_a_wrong_parameter_ends_the_node_with_one_line(start):
    arm = start("wall_point:=[0.0, 0.0, 0.1]")
    printed = arm.process.ended()
    assert arm.process.process.returncode == 1
    assert "normal of the wall on 'tool0': expected 3 finite numbers, got None" in printed
    assert "Traceback" not in printed
