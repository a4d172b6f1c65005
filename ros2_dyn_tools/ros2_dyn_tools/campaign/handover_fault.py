# SPDX-License-Identifier: Apache-2.0
"""A handover amid all else: the arm goes to the trajectory controller and back, while something there fails."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ros2_dyn.simulation.controllers import EFFORT
from ros2_dyn_tools.campaign.simulated_manager import SimulatedManager
from ros2_dyn_tools.campaign.world import World

HANDOVER_TIME = 6.0
"""Duration of the fault, s: what two handovers take that go well, and a second after each."""
PAUSE = 1.2
"""Time after a handover during which nobody asks for anything, s: so long it is judged."""
LOOK_PERIOD = 0.1
"""How often is looked whether a handover has ended, s."""

FAILURES: dict[str, Callable[[SimulatedManager], None]] = {
    "none": lambda manager: None,
    "refuses": lambda manager: setattr(manager, "switches", False),
    "silent": lambda manager: setattr(manager, "answers", False),
    "does not tell": lambda manager: setattr(manager, "tells", False),
    "effort controller dead": lambda manager: setattr(manager, "effort_works", False),
    "trajectory controller dead": lambda manager: setattr(manager, "trajectory_works", False),
    "joints in another order": lambda manager: setattr(manager, "effort_joints", manager.effort_joints[::-1]),
    "node killed": lambda manager: manager.world.node.kill(),
    "failsafe killed": lambda manager: manager.world.node.lose_failsafe(),
}
"""What fails, by name."""


class HandoverThereAndBack:
    """Gives the arm to the trajectory controller, and takes it over again."""

    def __init__(self, world: World, rng: np.random.Generator, failure: str) -> None:
        """Draw when one of `FAILURES` happens."""
        self._world, self._manager = world, SimulatedManager(world, latency=float(rng.uniform(1e-3, 0.01)))
        self._failure = failure
        self._fails_after = float(rng.uniform(0.0, 4.0))
        self._mode = ""
        self._begun = self._ended = False

    def begin(self) -> None:
        """Begin, when what was before has faded; a handover that lasts longer comes first."""
        self._after(0.5, self._give_back)
        self._after(self._fails_after, self._fail)

    def end(self) -> None:
        """Let everything work again, and let the node have the arm in the mode that it had."""
        self._ended = True
        self._manager.repair()
        if self._begun:
            self._restore()

    def _after(self, delay: float, action: Callable[[], None]) -> None:
        def act() -> None:
            if not self._ended:
                action()

        self._world.queue.after(delay, act)

    def _fail(self) -> None:
        self._world.record("handover", "fails", self._failure)
        FAILURES[self._failure](self._manager)

    def _give_back(self) -> None:
        if self._world.node.hands_over:
            self._after(LOOK_PERIOD, self._give_back)
            return
        self._world.record("handover", "begins")
        self._begun = self._world.node.hands_over = True
        self._mode = self._world.wanted_mode
        self._manager.give_back()
        self._when_done(self._take_over)

    def _take_over(self) -> None:
        if self._world.controllers.active != EFFORT:
            self._manager.take_over()

    def _when_done(self, action: Callable[[], None]) -> None:
        """Go on a while after the handover has ended."""
        if self._manager.busy:
            self._after(LOOK_PERIOD, lambda: self._when_done(action))
        else:
            self._after(PAUSE, action)

    def _restore(self) -> None:
        if self._manager.busy:
            self._world.queue.after(LOOK_PERIOD, self._restore)
        else:
            self._world.switch_controller(True)
            self._world.want_mode(self._mode)
            self._world.node.hands_over = False
