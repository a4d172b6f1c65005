# SPDX-License-Identifier: Apache-2.0
"""Worlds in virtual time whose node is wrong about its arm, and what the arm does in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ros2_dyn.model import Payload, RobotModel
from ros2_dyn.runtime import PayloadRequest, Settings
from ros2_dyn.simulation.driver import DriverQuality
from ros2_dyn.simulation.simulated_arm import SimulatedArm
from ros2_dyn.simulation.simulated_node import NodeQuality
from ros2_dyn_tools.campaign.arm_pool import OWN_ARM, nominal_arm
from ros2_dyn_tools.campaign.target_generator import TargetQuality
from ros2_dyn_tools.campaign.world import World
from ros2_dyn_tools.campaign.world_options import ChannelQuality, WorldOptions

HOME = np.array([0.0, -0.9, 1.2, -1.8, -1.57, 0.0])
PAYLOAD = Payload(5.0, (0.0, 0.0, 0.05), link="tool0")
ENTERED, CHANGED, END = 0.5, 2.0, 3.5
"""When a mode is requested, when the arm changes, and when the world ends, s."""


@dataclass
class Outcome:
    """What became of one world."""

    world: World
    refusals: list[str]
    entered: float | None
    """When the mode began, s."""
    stopped: float | None
    """When it stopped, s."""
    reason: str
    travel: float
    """Largest distance of a joint from where it was at `since` until the stop, or until the end, rad."""
    speed: float
    """Largest speed of a joint in that time, rad/s."""


def arm_settings(**changes: Any) -> Settings:
    """Return settings that fit the arm of this package."""
    model = nominal_arm(OWN_ARM)
    stiffness, damping = (400.0, 400.0, 300.0, 40.0, 30.0, 20.0), (40.0, 40.0, 30.0, 4.0, 3.0, 2.0)
    given: dict[str, Any] = {
        "robot.joints": model.joint_names,
        "friction.transition_velocity": 0.05,
        "commands.ramp_time": 0.1,
    }
    given |= {"commands.target_timeout": 0.2, "commands.max_tip_speed": 10.0}  # what is tested here is the doubt
    return Settings.from_values(
        {**given, "feed_forward.stiffness": stiffness, "feed_forward.damping": damping, **changes}
    )


def make_world(
    arm: RobotModel | None = None,
    description: RobotModel | None = None,
    settings: Settings | None = None,
    seed: int = 1,
    targets: TargetQuality | None = None,
    driver: DriverQuality | None = None,
    home: np.ndarray = HOME,
) -> World:
    """Return a world of this package's arm, with noise and the delays of a network."""
    options = WorldOptions(
        settings or arm_settings(),
        driver or DriverQuality(rate=250.0, effort_noise=0.3),
        ChannelQuality(delay=0.001, jitter=0.001),
        ChannelQuality(delay=0.001),
        targets or TargetQuality(amplitude=0.1, frequency=0.5, force=5.0),
        NodeQuality(latency=0.001, failsafe_start=0.05),
    )
    return World(seed, arm or nominal_arm(OWN_ARM), home, options, description)


def declare(world: World, payload: Payload) -> None:
    """Tell the node what the arm carries."""
    told = PayloadRequest(payload.link or "", tuple(payload.parameters.tolist()))
    world.node.input(told)


def replace_arm(world: World, model: RobotModel) -> None:
    """Go on with another arm in the same state, as when a payload falls."""
    before = world.arm
    arm = SimulatedArm(model, before.law, before.q, before.qd, before.step, before.contacts, "leapfrog")
    arm.place(before.q, before.qd, before.t)
    world.arm = world.controllers.arm = arm


def mirrored(model: RobotModel, joint: str) -> RobotModel:
    """Return the robot with the sign of a joint turned over."""
    links = [
        link._replace(joint=replace(link.joint, axis=-link.joint.axis))
        if link.joint is not None and link.joint.name == joint
        else link
        for link in model.link_specs
    ]
    return RobotModel.from_links(model.name, links)


def permute_commands(world: World, order: list[int]) -> None:
    """Let the controller have its joints in another order than the node believes."""
    send = world.send_command
    world.send_command = lambda data: send(data[order])  # type: ignore[method-assign]


def play(
    world: World, mode: str, change: Callable[[], None] | None = None, since: float = CHANGED, end: float = END
) -> Outcome:
    """Request a mode, change something, and return what the arm did until the mode stopped.

    Args:
        world: the world.
        mode: the mode.
        change: called at `since`; None: nothing.
        since: time from which on travel and speed count, s.
        end: end of the world, s.
    """
    world.at(ENTERED, lambda: world.want_mode(mode))
    world.run(since)
    if change is not None:
        change()
    began, seen = world.arm.q.copy(), []
    while world.now < end and world.node.mode in (mode, "monitor"):
        world.run(world.now + 0.004)
        world._advance()
        seen.append((np.max(np.abs(world.arm.q - began)), np.max(np.abs(world.arm.qd))))
    modes = [(1e-9 * t, details) for t, kind, *details in world.records if kind == "mode"]
    entered = next((t for t, (name, _) in modes if name == mode), None)
    stopped = next(((t, reason) for t, (name, reason) in modes if name == "stopped"), (None, ""))
    refusals = [details[0] for _, kind, *details in world.records if kind == "refused"]
    travel, speed = np.max(seen, axis=0).tolist() if seen else (0.0, 0.0)
    return Outcome(world, refusals, entered, stopped[0], stopped[1], travel, speed)
