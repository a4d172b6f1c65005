# SPDX-License-Identifier: Apache-2.0
"""Contact that a mode intends is no collision; any other is."""

import pytest

from arm_world import FRICTIONLESS, ArmWorld
from ros2_dyn.estimation.collision import LASTING_TIME, IntendedContact
from ros2_dyn.simulation.applied_force import AppliedForce


def pushed(mode: str, until: float = 3.0, start: float = 1.0, duration: float = 0.5, **settings) -> ArmWorld:
    """Return a world in which a hand pushes the tip with 12 N in a mode."""
    push = AppliedForce("tool0", (0.0, 12.0, -4.0), start=start, duration=duration)
    known = {"collision.bandwidth": 25.0, "collision.threshold": [2.0] * 6}
    world = ArmWorld(arm=FRICTIONLESS, contacts=[push], **known, **settings)
    world.play(mode, until)
    return world


def collisions(world: ArmWorld) -> int:
    """Return the number of collisions that began, each of which calls the service."""
    return sum("~/reset_collision ends it" in text for _, text in world.details("event"))


@pytest.mark.parametrize("mode", ["hand_guiding", "force"])
def test_a_push_in_a_mode_that_intends_contact_is_no_collision(mode):
    world = pushed(mode)
    assert world.modes()[:2] == ["monitor", mode]
    assert collisions(world) == 0
    assert not world.node.runtime.collision_latched


@pytest.mark.parametrize("mode", ["monitor", "gravity"])
def test_the_same_push_elsewhere_is_one(mode):
    world = pushed(mode)
    assert collisions(world) == 1
    assert world.node.runtime.collision_latched


def test_a_push_after_hand_guiding_is_a_collision():
    world = pushed("hand_guiding", until=1.5, start=2.0)
    world.want_mode("monitor")
    world.run(3.0)
    assert collisions(world) == 1


def test_a_hand_that_stays_after_its_mode_is_excused_for_a_while_only():
    contact = IntendedContact()
    assert contact.excuses(True, True, 1.0)
    assert contact.excuses(False, True, 1.0 + LASTING_TIME)
    assert not contact.excuses(False, True, 1.01 + LASTING_TIME)


def test_a_new_contact_after_the_mode_is_not_excused():
    contact = IntendedContact()
    assert contact.excuses(True, True, 1.0)
    contact.excuses(False, False, 1.1)
    assert not contact.excuses(False, True, 1.2)
