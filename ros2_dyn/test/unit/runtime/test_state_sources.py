# SPDX-License-Identifier: Apache-2.0
"""Whether more than one node may publish the states of the same joints."""

import pytest

from ros2_dyn.runtime.inputs import StatePublishers
from ros2_dyn.runtime.state_sources import StateSources
from runtime_rig import SETTINGS, RuntimeRig


@pytest.mark.parametrize(
    ("publishers", "names", "alone"),
    [
        (0, (), True),
        (1, ("ab",), True),
        (2, ("ab", "c"), True),
        (2, ("ab",), False),
        (3, ("ab", "c"), False),
        (1, ("ab", "c"), True),
    ],
)
def test_each_publisher_should_have_joints_of_its_own(publishers, names, alone):
    sources = StateSources()
    sources.on_publishers(publishers, 0.0)
    for each in names:
        sources.note(tuple(each), 0.0)
    assert (not sources.problem(1.0)) is alone


def test_joints_that_nobody_sends_any_more_are_forgotten():
    sources = StateSources()
    sources.on_publishers(2, 0.0)
    sources.note("ab", 0.0)
    sources.note("c", 8.0)
    assert sources.problem(8.0)


def rig() -> RuntimeRig:
    made = RuntimeRig(SETTINGS)
    made.step(20)
    return made


def test_a_mode_is_refused_while_two_publishers_may_give_the_same_joints():
    made = rig()
    made.take(made.runtime.step(StatePublishers(2), made.now))
    assert "2 publishers on joint_states" in made.set_mode("gravity").error.problem
    made.take(made.runtime.step(StatePublishers(1), made.now))
    assert made.set_mode("gravity").error is None


def test_a_second_publisher_amid_a_mode_is_a_warning():
    """What it publishes is judged state by state; it may be about to give other joints."""
    made = rig()
    made.enter("gravity")
    for _ in range(3):
        made.take(made.runtime.step(StatePublishers(2), made.now))
    made.step(20)
    assert made.runtime.mode == "gravity"
    assert sum("2 publishers" in text for text in made.logged()) == 1


def test_a_gripper_beside_the_arm_is_no_second_publisher():
    made = rig()
    gripper = made.sample()._replace(names=("finger",), position=(0.0,), velocity=(0.0,), effort=(0.0,))
    made.take(made.runtime.step(gripper, made.now))
    made.take(made.runtime.step(StatePublishers(2), made.now))
    made.step(2)
    assert made.set_mode("gravity").error is None
