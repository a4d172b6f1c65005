# SPDX-License-Identifier: Apache-2.0
"""What a robot card says besides the model, beside what the parameters say."""

from __future__ import annotations

from collections.abc import Iterator
from math import asin, degrees, inf

import numpy as np

from ros2_dyn.model import Finding, RobotCard, RobotModel
from ros2_dyn.model.effort_filter import NO_FILTER
from ros2_dyn.runtime.settings import Settings

MAX_TILT = 0.001
"""Difference between two gravity vectors, as a share of their length, that nobody has to know of: 0.06 degrees."""


def effort_gains(card: RobotCard | None, settings: Settings, model: RobotModel) -> tuple[float, ...]:
    """Return the factors from the driver's unit of effort to N m or N: the parameters', else the card's, else 1."""
    given = settings.in_order(settings.states.effort_gain, model, 1.0)
    if card is None or settings.states.effort_gain:
        return tuple(given)
    return card.gains(model.joint_names)


def effort_cutoff(card: RobotCard | None, settings: Settings) -> float:
    """Return the cut-off of the driver's first-order low-pass of efforts, Hz: the parameter's, else the card's."""
    if settings.states.effort_filter_cutoff > 0:
        return settings.states.effort_filter_cutoff
    found = NO_FILTER if card is None else card.effort_filter
    return found.cutoff if found.kind == "first_order" else inf


def check_effort_filter(card: RobotCard | None, settings: Settings) -> Iterator[Finding]:
    """Yield a warning where the card found a filter that looks ahead, which no driver has while the arm moves."""
    if card is None or card.effort_filter.kind != "zero_phase" or settings.states.effort_filter_cutoff > 0:
        return
    problem = f"its efforts were filtered without delay ({card.effort_filter}) after they were recorded"
    advice = "record what the driver publishes, or set effort_filter_cutoff to the filter of the driver"
    yield Finding("warning", "card_effort_filter", "robot", problem, advice)


def check_mounting(card: RobotCard | None, settings: Settings) -> Iterator[Finding]:
    """Yield a warning where the card found another direction or size of gravity than the parameter has."""
    if card is None or card.gravity is None:
        return
    found, used = np.array(card.gravity), np.array(settings.robot.gravity)
    share = float(np.linalg.norm(found - used)) / max(float(np.linalg.norm(used)), 1e-9)
    if share > MAX_TILT:
        angle = degrees(2 * asin(min(share / 2, 1.0)))
        off = f"{list(card.gravity)}, {angle:.2g} degrees off"
        problem = f"the parameter gravity is {list(settings.robot.gravity)} m/s^2, and the card found {off}"
        advice = "set it to what the card found if the arm is still mounted as then"
        yield Finding("warning", "card_gravity", "robot", problem, advice)
