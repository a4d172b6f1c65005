# SPDX-License-Identifier: Apache-2.0
"""Faults of requests: what users tell the node that does not fit the arm, or at the wrong moment."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ros2_dyn.control.modes import MODES
from ros2_dyn.control.modes.impedance import ImpedanceSettings
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.inputs import Description, ModeRequest, PayloadRequest
from ros2_dyn_tools.campaign.fault import Fault
from ros2_dyn_tools.campaign.world import World

TOGGLE_PERIOD = 0.02
"""Period of mode requests that are toggled, s."""
STIFFNESS_PERIOD = 0.06
"""Period of stiffness that is changed, s."""


def mode_toggled(world: World, rng: np.random.Generator) -> Fault:
    """Request another mode and this one by turns."""
    others = [mode for mode in ("monitor", *MODES) if mode != world.wanted_mode]
    modes = [others[int(rng.integers(len(others)))], world.wanted_mode]
    active = [True]

    def toggle() -> None:
        if active:
            mode = modes[0]
            modes.reverse()
            world.node.input(ModeRequest(mode))
            world.queue.after(TOGGLE_PERIOD, toggle)

    return Fault(toggle, active.clear)


def enable_lost(world: World, rng: np.random.Generator) -> Fault:
    """Release the enabling button, or disconnect it."""
    name = "pressed" if rng.random() < 0.5 else "enable_connected"
    return Fault(lambda: setattr(world, name, False), lambda: setattr(world, name, True))


def payload_changed(world: World, rng: np.random.Generator) -> Fault:
    """Declare a payload that the arm does not carry, with a ramp or at once; then the right one."""
    mass, ramp = float(rng.choice([0.5, 3.0, 20.0, 200.0])), float(rng.choice([0.0, 0.5]))
    x, z = rng.uniform(-0.1, 0.1, 2).tolist()
    I = (0.01 * mass, 0.0, 0.0, 0.01 * mass, 0.0, 0.01 * mass)
    told = (mass, mass * x, 0.0, mass * z, *I)

    request = PayloadRequest("", told, ramp)
    return Fault(lambda: world.tell_payload(request), lambda: world.tell_payload(world.declared_payload))


def settings_changed(world: World, rng: np.random.Generator) -> Fault:
    """Change gravity, which is locked while a mode commands, or damping and gains."""
    tilt = rng.uniform(-0.3, 0.3, 2).tolist()
    changes: dict[str, Any] = (
        {"robot.gravity": (9.81 * tilt[0], 9.81 * tilt[1], -9.81)},
        {"gravity.damping": float(rng.uniform(0, 50))},
        {"hand_guiding.damping": float(rng.uniform(0, 50)), "force.damping": float(rng.uniform(0, 500))},
        {"feed_forward.gain": 0.0, "hand_guiding.friction": 0.0},
    )[int(rng.integers(4))]
    original = world.options.settings
    before = {name: original.values()[name] for name in changes}

    return Fault(lambda: world.tell_settings(**changes), lambda: world.tell_settings(**before))


def stiffness_changed(world: World, rng: np.random.Generator) -> Fault:
    """Change the stiffness of mode impedance again and again; then tell the right one."""
    active, original = [True], world.options.settings

    def change() -> None:
        if active:
            world.tell_settings(**random_spring(rng))
            world.queue.after(STIFFNESS_PERIOD, change)

    def end() -> None:
        active.clear()
        world.tell_settings(**{"impedance.stiffness": original.mode(ImpedanceSettings).stiffness})

    return Fault(change, end)


def random_spring(rng: np.random.Generator) -> dict[str, Any]:
    """Return a stiffness of mode impedance: from soft to stiffer than any loop bears; some axes are left free."""
    stiffness = 10 ** rng.uniform(1.5, 4.0, 6) * [1, 1, 1, 0.02, 0.02, 0.02] * (rng.random(6) < 0.9)
    return {"impedance.stiffness": stiffness.tolist()}


def gravity_turned(world: World, rng: np.random.Generator) -> Fault:
    """Tell the node that the arm hangs from the ceiling, which it does not."""
    told = world.options.settings.robot.gravity
    turned = tuple(-x for x in told)
    return Fault(
        lambda: world.tell_settings(**{"robot.gravity": turned}), lambda: world.tell_settings(**{"robot.gravity": told})
    )


@lru_cache(maxsize=256)
def _weaker(model: RobotModel) -> RobotModel:
    """Return the robot with smaller effort limits."""
    links = [
        link._replace(joint=link.joint and replace(link.joint, effort_limit=0.9 * link.joint.effort_limit))
        for link in model.link_specs
    ]
    return RobotModel.from_links(model.name, links)


def description_changed(world: World, rng: np.random.Generator) -> Fault:
    """Publish a description that cannot be used, or one with weaker joints; then the right one."""
    broken = bool(rng.random() < 0.5)

    def publish(description: RobotModel | str) -> None:
        world.node.input(Description(description))

    other = "<robot" if broken else _weaker(world.description)
    return Fault(lambda: publish(other), lambda: publish(world.description))
