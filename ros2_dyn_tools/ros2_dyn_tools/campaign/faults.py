# SPDX-License-Identifier: Apache-2.0
"""All faults of a world by name: what goes wrong for a while, drawn at random.

A fault begins and ends. Its parameters come from a random number generator of its own, so that equal seeds give equal
faults whatever else happens.
"""

from __future__ import annotations

import numpy as np

from ros2_dyn_tools.campaign.driver_faults import DRIVER_FAULTS
from ros2_dyn_tools.campaign.fault import MakeFault
from ros2_dyn_tools.campaign.faults_of_handovers import HANDOVER_TIME, handed_over
from ros2_dyn_tools.campaign.faults_of_messages import (
    arm_restarted,
    clocks_jump,
    commands_late,
    commands_lost,
    of_driver,
    of_targets,
    states_late,
    states_lost,
)
from ros2_dyn_tools.campaign.faults_of_processes import (
    controller_inactive,
    controller_switched,
    failsafe_killed,
    node_hangs,
    node_killed,
    node_terminated,
    second_commander,
    subscriber_lost,
    twin_commander,
)
from ros2_dyn_tools.campaign.faults_of_requests import (
    description_changed,
    enable_lost,
    gravity_turned,
    mode_toggled,
    payload_changed,
    settings_changed,
    stiffness_changed,
)
from ros2_dyn_tools.campaign.faults_of_the_arm import (
    joint_sign,
    joints_swapped,
    led,
    load_changed,
    pushed,
    spring_blocked,
    wall_pressed,
    walled,
)
from ros2_dyn_tools.campaign.target_generator import TARGET_FAULTS
from ros2_dyn_tools.campaign.world import World

LASTING_FAULTS = {
    "node stopped": 1.0,
    "interpreter held": 2.0,
    "node terminated": 1.2,
    "wall pressed": 1.0,
    "spring blocked": 1.0,
    "handed over": HANDOVER_TIME,
}
"""Faults that last for a time of their own, s."""


def start_fault(world: World, kind: str, rng: np.random.Generator, duration: float) -> None:
    """Begin a fault of a kind of `FAULTS` now, and end it after a duration, s, or after its own."""
    fault = FAULTS[kind](world, rng)
    world.record("fault begins", kind)
    fault.begin()

    def end() -> None:
        fault.end()
        world.record("fault ends", kind)

    world.at(world.now + LASTING_FAULTS.get(kind, duration), end)


FAULTS: dict[str, MakeFault] = {
    **{name: of_driver(name) for name in DRIVER_FAULTS},
    **{name: of_targets(make) for name, make in TARGET_FAULTS.items()},
    "states late": states_late,
    "states lost": states_lost,
    "commands late": commands_late,
    "commands lost": commands_lost,
    "node killed": node_killed,
    "node terminated": node_terminated,
    "node hangs": node_hangs,
    "node stopped": node_hangs,
    "interpreter held": node_hangs,
    "failsafe killed": failsafe_killed,
    "subscriber lost": subscriber_lost,
    "controller switched": controller_switched,
    "controller inactive": controller_inactive,
    "second commander": second_commander,
    "twin commander": twin_commander,
    "arm restarted": arm_restarted,
    "clocks jump": clocks_jump,
    "mode toggled": mode_toggled,
    "enable lost": enable_lost,
    "payload changed": payload_changed,
    "settings changed": settings_changed,
    "stiffness changed": stiffness_changed,
    "gravity turned": gravity_turned,
    "description changed": description_changed,
    "load changed": load_changed,
    "joint sign": joint_sign,
    "joints swapped": joints_swapped,
    "arm pushed": pushed,
    "arm led": led,
    "wall": walled,
    "wall pressed": wall_pressed,
    "spring blocked": spring_blocked,
    "handed over": handed_over,
}
"""All kinds of faults by name."""
