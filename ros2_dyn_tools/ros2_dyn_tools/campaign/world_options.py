# SPDX-License-Identifier: Apache-2.0
"""What surrounds the arm and the node of a world: their parameters, and how good driver, network and targets are.

What is declared by them is what promises are measured by.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from typing import Any

import numpy as np

from ros2_dyn.control.modes import MODES
from ros2_dyn.model import RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.runtime.inputs import PayloadRequest
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.simulation.lossy_channel import LossyChannel
from ros2_dyn_tools.campaign.driver import DriverQuality
from ros2_dyn_tools.campaign.record import Declared
from ros2_dyn_tools.campaign.simulated_node import NodeQuality
from ros2_dyn_tools.campaign.target_generator import TargetQuality

ENABLED = ("hand_guiding", "force", "impedance")
"""Modes that docs/safety.md lists as those that need the enabling signal, whatever they say of themselves."""


@dataclass(frozen=True)
class ChannelQuality:
    """Losses and delays of a network."""

    drop_rate: float = 0.0
    """Probability that a message is lost."""
    delay: float = 0.0
    """Smallest delay, s."""
    jitter: float = 0.0
    """Largest additional delay, s."""

    def channel(self, rng: np.random.Generator) -> LossyChannel[Any]:
        """Return a channel of this quality."""
        return LossyChannel(rng, self.drop_rate, self.delay, self.jitter)


@dataclass(frozen=True)
class WorldOptions:
    """What surrounds the arm and the node."""

    settings: Settings = field(default_factory=Settings)
    """Parameters of the node."""
    driver: DriverQuality = field(default_factory=DriverQuality)
    states: ChannelQuality = field(default_factory=ChannelQuality)
    """Network from the driver to the node."""
    commands: ChannelQuality = field(default_factory=ChannelQuality)
    """Network from the node to the controller."""
    targets: TargetQuality = field(default_factory=TargetQuality)
    node: NodeQuality = field(default_factory=NodeQuality)
    step: float = 2e-3
    """Integration step, s."""
    patience: float = 0.0
    """Time after the end of a mode, s, before which the operator requests none."""
    attended: bool = False
    """Whether the stop service closes brakes, and the operator opens them and resets a latched collision."""


def declared(arm: RobotModel, description: RobotModel, settings: Settings) -> Declared:
    """Return the limits that a description and parameters declare, in the order of the arm's joints.

    They follow from what docs/safety.md promises, not from what the node makes of it.
    """
    effort = settings.commands.effort_scale * description.effort_limit
    order = [description.joint_names.index(name) for name in arm.joint_names]
    threshold = settings.in_order(settings.collision.threshold, arm, inf)
    stiffness = np.array(settings.in_order(settings.commands.effort_per_unit, arm, 0.0))
    return Declared(
        arm.joint_names,
        effort[order],
        settings.commands.slew_rate * effort[order],
        arm.velocity_limit,
        settings.commands.velocity_scale * description.velocity_limit[order],
        arm.lower,
        arm.upper,
        np.array(threshold) if settings.collision.observes else np.full(arm.n, inf),
        settings.states.timeout,
        settings.commands.max_tip_speed,
        tuple(MODES),
        tuple(name for name, mode in MODES.items() if mode.needs.target != "joints"),
        tuple(name for name, mode in MODES.items() if mode.needs.enabling_signal or name in ENABLED),
        stiffness if settings.commands.command_effort == "position_offset" else None,
    )


@lru_cache(maxsize=256)
def loaded(model: RobotModel, payload: PayloadRequest) -> RobotModel:
    """Return a robot that carries a payload that was declared."""
    inertia = SpatialInertia.from_parameters(np.array(payload.parameters))
    return model.with_body(payload.link or model.default_tip, inertia)
