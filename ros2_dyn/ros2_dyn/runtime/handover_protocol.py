# SPDX-License-Identifier: Apache-2.0
"""What a handover asks for, the answers, and how it ends."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Literal, NamedTuple

from ros2_dyn.control.controller_probe import ProbeFinding
from ros2_dyn.model.spatial import Array

HandoverStep = Literal["hold", "probe", "release"]
"""Hold the arm where it is, probe whether its controller obeys, let it go."""


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


class NoAnswer(NamedTuple):
    """Why there is no answer, or none in time."""

    why: str


class ListControllers(NamedTuple):
    """Asks for the controllers: a tuple of `Controller`, or `NoAnswer`."""


class SwitchControllers(NamedTuple):
    """Asks for a strict switch; the answer is why it was refused, empty if it was not, or `NoAnswer`."""

    activate: tuple[str, ...]
    deactivate: tuple[str, ...]


class EnterMode(NamedTuple):
    """Asks for a mode; the answer is why it was refused, empty if it was not."""

    mode: str


class Stay(NamedTuple):
    """Tells a trajectory controller to stay at positions; the answer is empty, or why nobody hears it.

    Without positions it only asks whether the controller hears.
    """

    controller: Controller
    positions: dict[str, float]
    """By joint, rad or m."""
    efforts: dict[str, float]
    """By joint, N m or N."""


class Step(NamedTuple):
    """Tells the runtime what a handover does, see `ArmRuntime.on_handover`; the answer is None."""

    what: HandoverStep


class Look(NamedTuple):
    """Asks for an `ArmView`, after a time, s."""

    after: float = 0.0


Ask = ListControllers | SwitchControllers | EnterMode | Stay | Step | Look


class ArmView(NamedTuple):
    """What a handover sees of the arm."""

    mode: str
    reason: str
    """Why the last mode ended."""
    settled: bool
    """Whether all ramps have ended."""
    joint_names: tuple[str, ...]
    q: Array
    """Joint positions, rad or m, shape (n,)."""
    command: Array | None
    """The newest command, N m or N, shape (n,); None: nothing is commanded."""
    probe: ProbeFinding | None
    """What a probe that has ended has found."""


class Outcome(NamedTuple):
    """How a handover ended."""

    success: bool
    message: str
    held_by: str
    """Who holds the arm: names of controllers, `NODE`, or empty where nobody is known to."""
    taken_from: tuple[str, ...] = ()
    """Controllers that held it before, where the node took it over."""


Procedure = Generator[Ask, Any, Outcome]
"""A handover: it yields what it asks for, is sent the answers, and returns how it ended."""
