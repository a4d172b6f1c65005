# SPDX-License-Identifier: Apache-2.0
"""Mode gravity: the arm floats, and comes to rest. During a handover it stays where it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ros2_dyn.control.arm import Arm
from ros2_dyn.control.entry_hold import EntryHold
from ros2_dyn.control.gravity_compensation import STOP_DAMPING, gravity_compensation
from ros2_dyn.control.handover_hold import HandoverHold
from ros2_dyn.control.modes.base import HandoverStep, Law, Mode, Needs
from ros2_dyn.control.parameter import Group, parameter
from ros2_dyn.control.soft_limits import soft_walls
from ros2_dyn.control.tip_speed import speed_brake


@dataclass(frozen=True)
class GravitySettings(Group, name="gravity", title="Mode gravity"):
    """How the arm feels in mode gravity."""

    damping: float = parameter(0.5, "Rate at which the arm comes to rest, 1/s.", low=0.0, high=50.0)


class Gravity(Mode[GravitySettings]):
    """Damped gravity compensation."""

    name = "gravity"
    needs = Needs(walls=True, handover=True)
    Parameters = GravitySettings
    entry: EntryHold | None = None
    """What holds an arm that rested; None: nothing, or not any more."""

    def holds_at_first(self, arm: Arm) -> bool:
        """Hold the arm until it is known which effort does; see `Mode`."""
        self.entry = EntryHold(arm.state.q, arm.now)
        return True

    def hand_over(self, step: HandoverStep, arm: Arm) -> None:
        """Hold the arm where it is, probe its controller, or let it go; see `Mode`."""
        if step == "hold":
            self.handover = HandoverHold(arm.state.q, arm.now, arm.commands.ramp_time)
        elif self.handover is not None and step == "probe":
            self.handover.begin_probe(arm.state, arm.limits.effort, arm.loop.period, arm.now)
        elif self.handover is not None:
            self.handover.release(arm.now)

    def law(self, arm: Arm, parameters: GravitySettings, dt: float) -> Law:
        """Return ``g - damping M qd``, with soft walls and what holds the arm in a handover; see `Mode`."""
        springs, damping, found = soft_walls(arm), np.zeros(len(arm.state.q)), None
        if self.entry is not None and self.entry.is_over(arm.now):
            found, self.entry = self.entry.found, None
        if self.entry is not None:
            held, damping = self.entry.efforts(arm, springs)
            springs = springs + held
        if self.handover is not None:
            self.entry, found = None, self.handover.take_found()
            if arm.exerted is not None:
                self.handover.on_effort(arm.now - arm.age, arm.exerted)
            rate = arm.loop.rate(STOP_DAMPING)
            held, damping = self.handover.efforts(arm.state, rate, arm.limits.effort, arm.now)
            springs = springs + held
        floating = gravity_compensation(arm.state, arm.loop.rate(parameters.damping))
        brake = speed_brake(arm)
        unknown = self.entry is not None or not (self.handover is None or self.handover.released)
        supply = None if unknown else arm.state.gravity + springs
        return Law(floating + springs + damping + brake, supply, found)
