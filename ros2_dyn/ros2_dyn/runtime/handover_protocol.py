# SPDX-License-Identifier: Apache-2.0
"""What a handover is between: the arm that the node commands, and the manager of its other controllers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ros2_dyn.control.controller_probe import ProbeFinding
from ros2_dyn.control.modes import MONITOR
from ros2_dyn.control.modes.base import HandoverStep
from ros2_dyn.model.spatial import Array


class Refused(Exception):
    """Why something cannot be done: it was refused, or not answered in time."""


class Controller(NamedTuple):
    """A controller of the arm, as its manager lists it."""

    name: str
    active: bool
    joints: tuple[str, ...]
    """Joints that it commands, in its order."""
    takes_efforts: bool
    """Whether it commands efforts."""
    takes_trajectories: bool = False
    """Whether it follows trajectories."""
    reads: tuple[str, ...] = ()
    """Controllers whose states are all that it reads, as a broadcaster of their forces does: it ends with them."""


class ArmView(NamedTuple):
    """The arm at one moment of a handover."""

    mode: str = MONITOR
    holds: bool = False
    """Whether it is a mode that holds the arm during a handover."""
    reason: str = ""
    """Why the last mode ended."""
    settled: bool = True
    """Whether all ramps have ended."""
    joint_names: tuple[str, ...] = ()
    q: Array = np.zeros(0)
    """Joint positions, rad or m, shape (n,)."""
    told_q: Array = np.zeros(0)
    """The same as the driver tells them, who may not count the turns of continuous joints."""
    command: Array | None = None
    """The newest command, N m or N, shape (n,); None: nothing is commanded."""
    probe: ProbeFinding | None = None
    """What a probe that has ended has found."""


class Outcome(NamedTuple):
    """How a handover ended."""

    success: bool
    message: str
    held_by: str
    """Who holds the arm: names of controllers, `NODE`, or empty where nobody is known to."""
    taken_from: tuple[str, ...] = ()
    """Controllers that held it before, where the node took it over."""


class CommandedArm(Protocol):
    """The arm, as the node commands it."""

    @property
    def joints(self) -> tuple[str, ...]:
        """Joints of the commands, in their order."""

    @property
    def effort_controller(self) -> str:
        """Name of the controller that takes the commands."""

    async def view(self, after: float = 0.0) -> ArmView:
        """Return the arm as it is after a time, s."""

    async def enter_gravity(self) -> None:
        """Enter mode gravity.

        Raises:
            Refused: the runtime refuses it.
        """

    def step(self, what: HandoverStep) -> None:
        """Take a step, see `HandoverStep`."""


class Controllers(Protocol):
    """The manager of the arm's controllers. Each method raises `Refused` where it does not answer in time."""

    async def list(self) -> Sequence[Controller]:
        """Return the controllers."""

    async def switch(self, activate: Sequence[str], deactivate: Sequence[str]) -> None:
        """Switch controllers by their names, all or none.

        Raises:
            Refused: nothing is switched, or nobody answers and it is not known.
        """

    async def connect(self, controller: Controller) -> None:
        """Wait until a trajectory controller is there to receive where it has to stay."""

    async def stay(self, controller: Controller, positions: Mapping[str, float], efforts: Mapping[str, float]) -> None:
        """Let a trajectory controller stay where the arm is.

        Args:
            controller: the controller.
            positions: by joint, rad or m.
            efforts: by joint, N m or N; none where it takes none.
        """
