# SPDX-License-Identifier: Apache-2.0
"""A world whose arm is handed over between its trajectory controller and the node, and what its arm did meanwhile."""

from __future__ import annotations

import numpy as np

from arm_world import FRICTIONLESS, HOME, ArmWorld
from ros2_dyn.dynamics import gravity
from ros2_dyn.model import Payload
from ros2_dyn.runtime import PayloadRequest
from ros2_dyn.runtime.handover import NODE
from ros2_dyn.runtime.handover_protocol import Outcome
from ros2_dyn.simulation.controllers import EFFORT
from ros2_dyn.simulation.interpolated_trajectory import Waypoint
from ros2_dyn_tools.campaign.simulated_manager import SimulatedManager

LONGEST = 20.0
"""Time in which every handover has to end, s."""


class HandoverWorld(ArmWorld):
    """The trajectory controller holds the arm at the start, at home."""

    def __init__(self, seed=1, *, arm=FRICTIONLESS, home=HOME, payload: Payload | None = None, **settings) -> None:
        super().__init__(seed, arm=arm.carrying(payload), known=arm, home=home, **settings)
        self.manager = SimulatedManager(self)
        self.switch_controller(False)
        weight = gravity(self.arm_model, self.home)
        self.controllers.follow([Waypoint(0.01, self.home, np.zeros(len(weight)), weight)])
        if payload is not None:
            told = PayloadRequest(payload.link or "", tuple(payload.parameters.tolist()))
            self.node.input(told)
        self.run(0.6)
        self.began = self.now

    def take_over(self) -> Outcome:
        """Take the arm over, and return how that ended."""
        return self._wait(self.manager.take_over)

    def give_back(self) -> Outcome:
        """Give the arm back, and return how that ended."""
        return self._wait(self.manager.give_back)

    def _wait(self, begin) -> Outcome:
        self.began = self.now
        begin()
        while self.manager.busy:
            assert self.now - self.began < LONGEST, "the handover does not end"
            self.run(self.now + 0.05)
        return self.manager.outcomes[-1]

    def moved(self) -> float:
        """Return how far a joint went since the newest handover began, rad."""
        return self.travel(self.began)

    def speed(self) -> float:
        """Return the fastest joint's speed, rad/s."""
        return float(np.max(np.abs(self.arm.qd)))

    @property
    def holder(self) -> str:
        """Who really holds the arm."""
        if self.controllers.active != EFFORT:
            return self.controllers.active
        return NODE if self.node.commands and self.listening else ""
