# SPDX-License-Identifier: Apache-2.0
"""One robot card from several of one arm: means, and how far the identifications differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.card import CardAbout, CardSpread, RobotCard, rounded_dynamics
from ros2_dyn.model.effort_filter import NO_FILTER, EffortFilter
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.inertial import Inertial, rounded
from ros2_dyn.model.joint_dynamics import JointDynamics
from ros2_dyn.model.spatial import Array

SCALARS = tuple(each.name for each in fields(JointDynamics) if each.name not in ("static", "presliding"))
"""Numbers of a joint that each identification has."""


def merge_cards(cards: Sequence[RobotCard]) -> RobotCard:
    """Return the card whose numbers are the means of some cards, with their standard deviations.

    Inertias are averaged in the parameters that forces are linear in, so that the mean of bodies that can exist is one.

    Args:
        cards: single identifications of one arm, two or more.

    Raises:
        InputError: there are too few, one is a mean itself, they are of different arms, or have other links, joints or
            presliding elements.
    """
    first = _alike(cards)
    links = {name: [card.links[name] for card in cards] for name in first.links}
    joints = {name: [card.joints[name] for card in cards] for name in first.joints}
    gains = {name: [card.effort_gain.get(name, 1.0) for card in cards] for card in cards for name in card.effort_gain}
    gravities = [card.gravity for card in cards if card.gravity is not None]
    told = len(gravities) == len(cards)
    spread = CardSpread(
        links={name: _inertial_spread(each) for name, each in links.items() if each != [Inertial()] * len(cards)},
        joints={name: numbers for name, each in joints.items() if (numbers := _dynamics_spread(each))},
        effort_gain={name: _deviation(each) for name, each in gains.items()},
        gravity=tuple(map(_deviation, zip(*gravities))) if told else None,
    )
    return replace(
        first,
        links={name: _mean_inertial(each) for name, each in links.items()},
        joints={name: _mean_dynamics(name, each) for name, each in joints.items()},
        effort_gain={name: _mean(each) for name, each in gains.items()},
        gravity=tuple(map(_mean, zip(*gravities))) if told else None,
        effort_filter=_filter(cards),
        about=_about([card.about for card in cards]),
        spread=spread,
    )


def _alike(cards: Sequence[RobotCard]) -> RobotCard:
    """Return the first card; check that the others are of the same arm."""
    if len(cards) < 2:
        raise InputError("cards", f"expected two or more, got {len(cards)}")
    first = cards[0]
    for i, card in enumerate(cards, start=1):
        if card.spread is not None:
            raise InputError(f"card {i}", "it is a mean already: give the cards that it was made from")
        for what in ("robot", "kinematics"):
            if getattr(card, what) != getattr(first, what):
                raise InputError(f"card {i}", f"its {what} is not that of the first")
        for what in ("links", "joints"):
            if set(getattr(card, what)) != set(getattr(first, what)):
                raise InputError(f"card {i}", f"its {what} are not those of the first")
    serials = sorted({card.about.serial for card in cards if card.about.serial})
    if len(serials) > 1:
        raise InputError("cards", f"they are of different arms, with the serial numbers {', '.join(serials)}")
    return first


def _filter(cards: Sequence[RobotCard]) -> EffortFilter:
    """Return the filter of all cards: a mean of the cut-offs of filters of one kind."""
    filters = [card.effort_filter for card in cards]
    if kinds := {each.kind for each in filters} - {filters[0].kind}:
        found = ", ".join(sorted({filters[0].kind, *kinds}))
        raise InputError("cards", f"they have different kinds of effort_filter: {found}; a driver has one")
    return NO_FILTER if filters[0] == NO_FILTER else EffortFilter(filters[0].kind, _mean([f.cutoff for f in filters]))


def _mean(numbers: Sequence[float]) -> float:
    return rounded(float(np.mean(numbers)))


def _deviation(numbers: Sequence[float]) -> float:
    """Return the standard deviation of a sample."""
    return rounded(float(np.std(numbers, ddof=1)))


def _mean_inertial(inertials: Sequence[Inertial]) -> Inertial:
    parameters: Array = np.mean([each.spatial().parameters for each in inertials], axis=0)
    return Inertial.of(SpatialInertia.from_parameters(parameters))


def _inertial_spread(inertials: Sequence[Inertial]) -> Inertial:
    masses, coms, tensors = zip(*inertials)
    return Inertial(_deviation(masses), tuple(map(_deviation, zip(*coms))), tuple(map(_deviation, zip(*tensors))))


def _mean_dynamics(joint: str, dynamics: Sequence[JointDynamics]) -> JointDynamics:
    if len({len(each.presliding) for each in dynamics}) > 1:
        counts = ", ".join(str(len(each.presliding)) for each in dynamics)
        raise InputError(f"joint '{joint}'", f"the cards have {counts} presliding elements: identify them alike")
    told = {name: _mean([getattr(each, name) for each in dynamics]) for name in SCALARS}
    presliding = np.mean([each.presliding for each in dynamics], axis=0).tolist()
    static = None
    if any(each.static is not None for each in dynamics):
        static = _mean([each.breakaway for each in dynamics])
    return rounded_dynamics(
        JointDynamics(**told, static=static, presliding=tuple((float(x), float(effort)) for x, effort in presliding))
    )


def _dynamics_spread(dynamics: Sequence[JointDynamics]) -> dict[str, float]:
    """Return the standard deviations of the numbers that are not all alike."""
    found = {name: _deviation([getattr(each, name) for each in dynamics]) for name in SCALARS}
    if any(each.static is not None for each in dynamics):
        found["static"] = _deviation([each.breakaway for each in dynamics])
    return {name: x for name, x in found.items() if x > 0}


def _about(abouts: Sequence[CardAbout]) -> CardAbout:
    temperatures = [each.temperature for each in abouts if each.temperature is not None]
    first = abouts[0]
    rms: list[Mapping[str, float]] = [each.held_out_rms for each in abouts]
    return replace(
        first,
        serial=max(each.serial for each in abouts),
        date=max(each.date for each in abouts),
        method="; ".join(dict.fromkeys(each.method for each in abouts if each.method)),
        data=tuple(dict.fromkeys(digest for each in abouts for digest in each.data)),
        temperature=_mean(temperatures) if len(temperatures) == len(abouts) else None,
        held_out_rms={joint: _mean([each[joint] for each in rms]) for joint in rms[0] if all(joint in r for r in rms)},
        identifications=len(abouts),
        licence="; ".join(dict.fromkeys(each.licence for each in abouts if each.licence)),
    )
