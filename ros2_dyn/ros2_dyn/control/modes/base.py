# SPDX-License-Identifier: Apache-2.0
"""What a mode is: what it needs, its parameters, when it may begin and go on, and its law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

import numpy as np

from ros2_dyn.control.arm import Arm
from ros2_dyn.control.events import Violation
from ros2_dyn.control.handover_hold import HandoverHold
from ros2_dyn.control.parameter import LISTS, Group
from ros2_dyn.control.ramp import Ramp
from ros2_dyn.model.spatial import Array

HandoverStep = Literal["hold", "probe", "release", "leave"]
"""Hold the arm where it is, probe whether its controller obeys, release it into the mode, leave it to others."""
TargetKind = Literal["joints", "wrench", "pose"]
"""What a mode may follow: a motion of the joints, a wrench of the tip, a pose of the tip."""
P = TypeVar("P", bound=Group)


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What a mode needs of its surroundings, and what they have to expect of it."""

    target: TargetKind | None = None
    """What it follows, and without which it stops; None: nothing. The tip is slow unless that is a motion of joints."""
    may_follow: tuple[TargetKind, ...] = ()
    """What it follows besides, where it is given."""
    enabling_signal: bool = False
    """Whether a person has to hold a button, unless `commands.require_enable` is false."""
    contact: bool = False
    """Whether people or things are touched: contact is no collision."""
    known_delay: bool = False
    """Whether it presses by itself, stably up to a delay only, which has to be known."""
    walls: bool = False
    """Whether soft walls stand before the joint limits."""
    begins_behind_walls: bool = False
    """Whether it may begin with joints that are beyond their limits, by the width of a wall, to bring them back."""
    handover: bool = False
    """Whether it holds the arm during a handover to or from another controller."""


class Law(NamedTuple):
    """What a law gives at a tick."""

    effort: Array
    """The whole joint effort, N m or N, shape (n,)."""
    supply: Array | None = None
    """The part of it that is passive or wanted, N m or N, shape (n,), which `PassivityObserver` does not count; None:
    it is not known, and nothing is counted."""
    found: Array | None = None
    """What was just found to hold the arm beyond its model, N m or N, shape (n,): the mode goes on with it; None:
    nothing new."""


class ModeReport(NamedTuple):
    """What a mode tells of itself."""

    numbers: Mapping[str, float] = MappingProxyType({})
    """Numbers for the diagnostics, by name."""
    warning: str = ""
    """What is not as it should be; empty: nothing."""


class Mode(ABC, Generic[P]):
    """A mode. An object is made when it is entered, and has all that it remembers from one state to the next."""

    name: ClassVar[str]
    """What ~/set_mode calls it; the group of its parameters has the same."""
    needs: ClassVar[Needs]
    Parameters: ClassVar[type[Group]]
    """The class of its parameters."""
    handover: HandoverHold | None = None
    """What holds the arm during a handover; None: there is none."""

    def __init__(self, parameters: P, now: float) -> None:
        """Begin at a time, s."""
        self.began_at = now
        self._parameters = self._before = parameters
        self._ramp = Ramp()
        self._at = now

    def use(self, parameters: P, ramp: Ramp) -> None:
        """Go on with other parameters; numbers change by a ramp, so that the efforts do not step."""
        self._before, self._parameters, self._ramp = self.parameters(ramp.start), parameters, ramp

    def parameters(self, now: float) -> P:
        """Return the parameters of a time, s."""
        if self._before is self._parameters or (s := self._ramp.share(now)) == 1:
            self._before = self._parameters
            return self._parameters
        return between(self._before, self._parameters, s)

    def step(self, arm: Arm) -> Law:
        """Return what the law gives; NaN where it cannot be computed."""
        dt, self._at = arm.now - self._at, arm.now
        try:
            return self.law(arm, self.parameters(arm.now), dt)
        except np.linalg.LinAlgError:  # of a mass matrix that no robot has
            return Law(np.full_like(arm.state.q, np.nan))

    @abstractmethod
    def law(self, arm: Arm, parameters: P, dt: float) -> Law:
        """Return the efforts at a state, with the parameters of that time, and the time since the state before, s."""

    def holds_at_first(self, arm: Arm) -> bool:
        """Return whether it begins by holding an arm, which rests and which nobody commanded, where it is."""
        return False

    def why_not_begin(self, arm: Arm) -> str:
        """Return why it may not begin where it may go on; empty: it may."""
        return ""

    def why_not_go_on(self, arm: Arm) -> Violation | None:
        """Return why it may not go on, beyond what holds for all modes; None: it may."""
        return None

    @property
    def wrench(self) -> Array:
        """What the tip is to exert now, [force; moment] in base axes, N and N m, shape (6,)."""
        return np.zeros(6)

    def uses_external_wrench(self, now: float) -> bool:
        """Return whether the law needs the wrench of the surroundings at a time, s."""
        return False

    def report(self) -> ModeReport:
        """Return what it tells of itself."""
        return ModeReport()

    def hand_over(self, step: HandoverStep, arm: Arm) -> None:
        """Take a step of a handover, if it holds the arm meanwhile."""


AnyMode = Mode[Any]
"""A mode, whatever its parameters are."""


def between(before: P, after: P, share: float) -> P:
    """Return parameters at a share of the way; lists that are not set count as zeros, and what is locked is as after.

    Efforts are linear in almost all gains, so that a linear way of the gains is one of the efforts.
    """
    changed: dict[str, Any] = {}
    for key, each in type(after).parameters().items():
        old, new = getattr(before, key), getattr(after, key)
        if old == new or each.locked or each.kind not in (float, LISTS[1]):
            continue
        if each.kind is float:
            changed[key] = old + share * (new - old)
        else:
            zeros = (0.0,) * max(len(old), len(new))
            changed[key] = tuple(a + share * (b - a) for a, b in zip(old or zeros, new or zeros))
    return replace(after, **changed)
