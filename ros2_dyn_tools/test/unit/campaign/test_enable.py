# SPDX-License-Identifier: Apache-2.0
"""The enabling signal, judged by what the simulated arm does."""

import pytest

from arm_world import FRICTIONLESS, ArmWorld
from ros2_dyn.control.modes import MODES
from ros2_dyn_tools.campaign.target_generator import TargetQuality
from tiers import by_turns

NEEDS = ("hand_guiding", "force", "impedance")


@pytest.mark.parametrize(("mode", "how"), by_turns(NEEDS, ["pressed", "enable_connected"]))
def test_a_mode_stops_where_the_button_is_released_or_its_messages_end(mode, how):
    world = ArmWorld()
    world.at(1.5, lambda: setattr(world, how, False))
    world.play(mode, 1.5 + 0.26)
    assert world.modes() == ["monitor", mode, "stopped"]
    assert world.reasons()[0].startswith("enable released: the enabling signal is ")
    world.run(3.0)
    assert world.joint_speed(2.5) < 0.05


def test_the_tip_comes_to_rest_where_the_button_is_released():
    """The force drives the free tip until then."""
    world = ArmWorld(arm=FRICTIONLESS, targets=TargetQuality(force=12.0, frequency=0.3))
    world.at(2.0, lambda: setattr(world, "pressed", False))
    world.play("force", 4.0)
    assert world.reasons() == ["enable released: the enabling signal is released"]
    assert world.tip_speed(1.5) > 0.04
    assert world.tip_speed(3.0) < 0.01


@pytest.mark.parametrize("mode", NEEDS)
def test_a_mode_is_refused_without_the_button_and_says_how_to_press_it(mode):
    world = ArmWorld()
    world.pressed = False
    world.play(mode, 1.0)
    assert world.modes() == ["monitor"]
    refusal = world.details("refused")[-1][0]
    assert "it has to be true on ~/enable" in refusal
    assert "ros2 topic pub -r 20 /dynamics/enable std_msgs/msg/Bool '{data: true}'" in refusal


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_that_needs_no_button_goes_on_without_it(mode):
    world = ArmWorld(**{"commands.require_enable": mode not in NEEDS})
    world.at(1.0, lambda: setattr(world, "pressed", False))
    world.play(mode, 1.8)
    assert world.modes() == ["monitor", mode]
