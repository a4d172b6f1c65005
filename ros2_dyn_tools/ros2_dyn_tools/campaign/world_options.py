# SPDX-License-Identifier: Apache-2.0
"""What surrounds the arm and the node of a world: their parameters, and how good driver, network and targets are."""

from __future__ import annotations

from dataclasses import dataclass, field

from ros2_dyn.runtime.settings import Settings
from ros2_dyn_tools.campaign.driver import DriverQuality
from ros2_dyn_tools.campaign.simulated_node import NodeQuality
from ros2_dyn_tools.campaign.target_generator import TargetQuality


@dataclass(frozen=True)
class ChannelQuality:
    """Losses and delays of a network."""

    drop_rate: float = 0.0
    """Probability that a message is lost."""
    delay: float = 0.0
    """Smallest delay, s."""
    jitter: float = 0.0
    """Largest additional delay, s."""


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
