# SPDX-License-Identifier: Apache-2.0
"""The parts of the mock arm's node without processes and without time: parameters, outputs, clocks."""

import re
from copy import deepcopy
from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from robots import HOME, MOCK_ARM, mock_arm

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from ros2_dyn.dynamics import rnea
from ros2_dyn.ros.mock_arm_clock import CATCH_UP, FollowedClock
from ros2_dyn.ros.mock_arm_outputs import MockArmOutputs
from ros2_dyn.ros.mock_arm_parameters import MockArmSettings
from ros2_dyn.simulation.perturbed import with_friction
from ros2_dyn.simulation.simulated_arm import HeldEffort, SimulatedArm

MODEL = mock_arm()
PERIOD = 4_000_000
"""ns."""


class FakeNode:
    """A node whose publishers keep their messages, and whose clock is set by the test."""

    def __init__(self) -> None:
        self.published: dict[type, list] = {}
        self.now = 0

    def create_publisher(self, kind: type, topic: str, qos: object) -> SimpleNamespace:
        """See `Node`."""
        messages = self.published.setdefault(kind, [])
        return SimpleNamespace(
            publish=lambda message: messages.append(deepcopy(message)), get_subscription_count=lambda: 0
        )

    def create_timer(self, period: float, callback: object) -> None:
        """See `Node`."""
        self.tick = callback

    def get_clock(self) -> SimpleNamespace:
        """See `Node`."""
        return SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=self.now))


def ns(message: JointState | JointTrajectory) -> int:
    """Return its stamp."""
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


def publish(instants: int, **parameters: object) -> tuple[FakeNode, list[tuple[int, int]]]:
    """Publish instants of an arm that rests; the node, and when which joint state left, as pairs of stamps."""
    node, left = FakeNode(), []
    settings = MockArmSettings(urdf_file=str(MOCK_ARM), **parameters)
    arm = SimulatedArm(MODEL, HeldEffort(np.full(6, 0.3), MODEL.effort_limit), HOME)
    outputs = MockArmOutputs(node, settings, arm)
    for k in range(1, instants + 1):
        before = len(node.published[JointState])
        count = outputs.publish(arm.motion(), k * PERIOD)
        assert count == len(node.published[JointState]) - before
        left += [(k * PERIOD, ns(state)) for state in node.published[JointState][before:]]
    return node, left


def test_the_parameter_file_holds_every_parameter_with_its_default():
    text = (MOCK_ARM.parent / "mock_arm.yaml").read_text(encoding="utf-8")
    written = yaml.safe_load(text)["/**/mock_arm"]["ros__parameters"]
    commented = set(re.findall(r"^    # (\w+): \[", text, re.MULTILINE))
    defaults = {field.name: field.default for field in fields(MockArmSettings)}
    assert written.keys() | commented == defaults.keys()
    assert not written.keys() & commented
    assert {name for name, value in written.items() if value != defaults[name]} == {"home"}
    assert commented | {"home"} == {name for name, default in defaults.items() if default is None}


def test_home_is_zero_or_the_nearest_limit_where_it_is_not_given():
    assert MockArmSettings().start(MODEL) == [0.0] * 6
    assert MockArmSettings(home=HOME).start(MODEL) == HOME


def test_friction_and_rotors_are_of_the_known_arm_and_errors_of_the_true_one_by_the_seed():
    settings = MockArmSettings(viscous_friction=(2.0,) * 6, coulomb_friction=(1.0,) * 6, armature=(0.1,) * 6)
    known = settings.known_model(MODEL)
    rubbing = with_friction(MODEL, [2.0] * 6, [1.0] * 6)
    assert [joint.dynamics.viscous for joint in known.joints] == [joint.dynamics.viscous for joint in rubbing.joints]
    assert [joint.dynamics.armature for joint in known.joints if joint.dof == 1] == [0.1] * 6
    efforts = [
        rnea(MockArmSettings(seed=seed, inertia_error=0.2).true_model(MODEL), HOME, [0.1] * 6, [0.5] * 6)
        for seed in (3, 3, 4)
    ]
    assert_allclose(efforts[0], efforts[1], rtol=0, atol=0)
    assert np.abs(efforts[0] - efforts[2]).max() > 0.1
    assert np.abs(efforts[0] - rnea(MODEL, HOME, [0.1] * 6, [0.5] * 6)).max() > 0.1


def test_all_messages_of_an_instant_have_its_stamp_and_the_description_is_published():
    node, left = publish(3)
    assert left == [(k * PERIOD, k * PERIOD) for k in (1, 2, 3)]
    assert [ns(message) for message in node.published[JointTrajectory]] == [k * PERIOD for k in (1, 2, 3)]
    assert [message.data for message in node.published[String]] == [MOCK_ARM.read_text(encoding="utf-8")]


def test_published_efforts_are_multiples_of_the_resolution():
    node, _ = publish(3, effort_resolution=0.25)
    for state in node.published[JointState]:
        assert_allclose(state.effort, 0.25)


def test_noise_is_on_the_states_as_large_as_asked_and_not_on_the_reference():
    node, _ = publish(500, position_noise=0.01, velocity_noise=0.1, effort_noise=1.0)
    states = node.published[JointState]
    for name, sigma in (("position", 0.01), ("velocity", 0.1), ("effort", 1.0)):
        assert_allclose(np.std([getattr(state, name) for state in states], axis=0), sigma, rtol=0.2)
    assert all(list(message.points[0].positions) == HOME for message in node.published[JointTrajectory])


def test_states_are_dropped_and_late_as_asked_and_the_reference_is_whole():
    node, left = publish(1000, delay=0.5, delay_jitter=0.3, drop_rate=0.3)
    delays = np.array([at - stamp for at, stamp in left]) * 1e-9
    assert delays.min() >= 0.5 - 1e-9
    assert delays.max() <= 0.8 + 1e-9 * PERIOD + 1e-9
    assert_allclose(delays.mean(), 0.65, atol=0.02)
    assert_allclose(len(left), 0.7 * (1000 - 0.65 / (1e-9 * PERIOD)), rtol=0.07)
    assert len(node.published[JointTrajectory]) == 1000


def followed(start: int = 10**18) -> tuple[FakeNode, FollowedClock, list[int], list[int]]:
    """Return a clock that follows the fake node's, with the steps that it asks for and the jumps that it reports."""
    node, steps, jumps = FakeNode(), [], []
    node.now = start

    def advance(count: int) -> bool:
        steps.append(count)
        return True

    return node, FollowedClock(node, 0.004, 0.001, advance, lambda: jumps.append(node.now)), steps, jumps


def test_a_followed_clock_advances_the_arm_up_to_now():
    node, clock, steps, jumps = followed()
    for late in (4_000_000, 9_200_000, 1_000):  # a tick, a late one, and one that comes at once
        node.now += late
        node.tick()
    assert steps == [4, 9, 1]
    assert clock.epoch == 10**18
    assert jumps == []


@pytest.mark.parametrize("jump", [3600.0, -3600.0, 2 * CATCH_UP])
def test_after_a_jump_of_the_followed_clock_the_arm_goes_on_where_it_stopped(jump):
    node, clock, steps, jumps = followed()
    for passed in (4_000_000, round(jump * 1e9), 4_000_000):
        node.now += passed
        node.tick()
    assert steps == [4, 1, 4]
    assert len(jumps) == 1
    assert abs(clock.epoch + sum(steps) * 1_000_000 - node.now) <= 1_000_000


def test_a_restart_sets_the_arm_back_and_not_the_stamps():
    node, clock, steps, _ = followed()
    for _ in range(3):
        node.now += 4_000_000
        node.tick()
    clock.restart()
    assert clock.epoch == node.now
    node.now += 4_000_000
    node.tick()
    assert steps == [4, 4, 4, 4]
