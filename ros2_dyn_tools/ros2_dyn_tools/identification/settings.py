# SPDX-License-Identifier: Apache-2.0
"""What a fit leaves open: the driver's filter, the terms of friction, and how far the description counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from ros2_dyn_tools.identification.columns import TERMS, Term
from ros2_dyn_tools.recording.effort_filter import EffortFilter


class JointTerms(NamedTuple):
    """The terms of friction in one joint."""

    transition_velocity: float = 0.02
    """Speed over which dry friction changes its sign, rad/s."""
    distances: tuple[float, ...] = (0.01, 0.03)
    """Displacements at which presliding elements slip, rad."""
    load: bool = True
    """Whether friction grows with the effort of gravity."""
    stribeck_velocity: float | None = None
    """Speed at which the excess of static friction has decayed, rad/s; None for no such excess."""
    offset: bool = True
    """Whether there is a constant effort."""

    @property
    def columns(self) -> list[int]:
        """Where the terms are among `TERMS`."""
        return list(_columns(self))


@lru_cache(maxsize=1024)
def _columns(terms: JointTerms) -> tuple[int, ...]:
    """Return where the terms are among `TERMS`: asked for thousands of times in a fit."""
    chosen = [Term("viscous"), Term("armature"), Term("coulomb", terms.transition_velocity)]
    chosen += [Term("load", terms.transition_velocity)] if terms.load else []
    if terms.stribeck_velocity is not None:
        chosen.append(Term("stribeck", terms.transition_velocity, terms.stribeck_velocity))
    chosen += [Term("offset")] if terms.offset else []
    chosen += [Term("presliding", distance) for distance in terms.distances]
    return tuple(TERMS.index(term) for term in chosen)


@dataclass(frozen=True)
class FitSettings:
    """Settings of a fit."""

    joints: tuple[JointTerms, ...]
    """Of each joint."""
    effort_filter: EffortFilter = EffortFilter()  # noqa: RUF009  (a tuple)
    """The driver's filter."""
    body_weight: float = 1e-3
    """Weight of the bodies' divergence from the description, for each state and joint, in squared deviations."""
    friction_weight: float = 1e-3
    """Weight of the other parameters' squared sizes, in the same unit."""
    tilt: bool = False
    """Whether the base may be tilted."""

    def with_joint(self, joint: int, terms: JointTerms) -> FitSettings:
        """Return the same settings with other terms in one joint."""
        joints: Sequence[JointTerms] = [terms if i == joint else each for i, each in enumerate(self.joints)]
        return replace(self, joints=tuple(joints))
