# SPDX-License-Identifier: Apache-2.0
"""The smallest force on an arm that is felt: where, in which direction, and after which time.

A push is a constant force that sets in at any time of a motion. It is felt where the external effort that the momentum
observer finds exceeds a joint's threshold within half a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from ros2_dyn.dynamics import jacobian
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.recording.detection import smallest_steps, step_response
from ros2_dyn_tools.recording.effort_filter import NO_FILTER, EffortFilter
from ros2_dyn_tools.recording.recording import Recording

FELT = 0.9
"""Share of the pushes that are felt."""
WITHIN = 0.5
"""Time within which a push has to be felt, s."""
SMALL = 1e-3
"""Load of a joint, as a share of the largest, below which it counts as none: the force goes through its axis."""
DIRECTIONS = np.array([u for u in product((-1.0, 0.0, 1.0), repeat=3) if any(u)])
"""Directions, base axes, to the faces, edges and corners of a cube, shape (26, 3)."""
AXES = "xyz"


class FeltForce(NamedTuple):
    """The smallest force that nine of ten pushes need to be felt."""

    link: str
    direction: str
    """"x", "y" or "z" of the base, to either side; "easiest" or "hardest" of all directions; "about x" and so on."""
    force: float
    """N, about an axis N m; infinite where no joint is loaded."""
    delay: float
    """Time, s, after which half of the pushes of twice that force are felt; NaN for an infinite force."""


class Watch(NamedTuple):
    """What a detector sees of a motion that nothing touches."""

    recording: Recording
    """In the order of the model's joints."""
    residuals: Array
    """External efforts at each state, N m or N, shape (m, n)."""
    thresholds: Sequence[float]
    """N m or N, shape (n,)."""
    bandwidth: float
    """Of the observer, 1/s."""
    effort_filter: EffortFilter = NO_FILTER
    """Filter of the driver."""


def felt_forces(model: RobotModel, watch: Watch) -> list[FeltForce]:
    """Return the smallest forces that are felt at the tip and at the far end of each link, where its next joint is.

    Args:
        model: the robot; its joints have one degree of freedom.
        watch: a motion without contact. What is felt in another one like it is the same.
    """
    begins, needed = smallest_steps(
        watch.recording,
        watch.residuals,
        watch.thresholds,
        bandwidth=watch.bandwidth,
        within=WITHIN,
        effort_filter=watch.effort_filter,
    )
    found = []
    for link, J in _far_ends(model, watch.recording.q[begins]):
        units = DIRECTIONS / np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)
        load = np.einsum("dc,kcn->kdn", units, J)
        forces = np.quantile(_smallest(load, needed), FELT, axis=0, method="higher")
        worst = {axis: _harder(forces, np.abs(units[:, i]) == 1.0) for i, axis in enumerate(AXES)}
        worst |= {"easiest": int(np.argmin(forces)), "hardest": int(np.argmax(forces))}
        for direction, d in worst.items():
            force = float(forces[d])
            found.append(FeltForce(link, direction, force, _delay(watch, begins, force, load[:, d])))
    about = jacobian(model, watch.recording.q[begins])[:, 3:]
    load = np.concatenate([about, -about], axis=1)
    moments = np.quantile(_smallest(load, needed), FELT, axis=0, method="higher")
    for i, axis in enumerate(AXES):
        d = _harder(moments, np.arange(6) % 3 == i)
        moment = float(moments[d])
        delay = _delay(watch, begins, moment, load[:, d])
        found.append(FeltForce(model.default_tip, f"about {axis}", moment, delay))
    return found


def _harder(forces: Array, among: Array) -> int:
    """Return which of some directions needs the largest force."""
    return int(np.argmax(np.where(among, forces, -1.0)))


def _far_ends(model: RobotModel, q: Array) -> Iterator[tuple[str, Array]]:
    """Yield the far end of each link and the tip, and their linear Jacobians in base axes, shape (k, 3, n)."""
    for joint, parent in enumerate(model.lambda_):
        if parent >= 0:
            J = jacobian(model, q, model.child_links[joint])[:, :3]
            J[..., joint] = 0.0  # the force acts on the link before this joint
            yield model.child_links[parent], J
    yield model.default_tip, jacobian(model, q)[:, :3]


def _smallest(load: Array, needed: Array) -> Array:
    """Return the smallest force that is felt by any joint, N, shape (k, d).

    Args:
        load: efforts of a force of 1 N, shape (k, d, n).
        needed: efforts that are felt upwards and downwards, shape (k, n, 2).
    """
    efforts = np.where(load > 0, needed[:, None, :, 0], needed[:, None, :, 1])
    small = np.abs(load) <= SMALL * np.max(np.abs(load))
    return np.min(np.where(small, np.inf, efforts) / np.where(small, 1.0, np.abs(load)), axis=-1)


def _delay(watch: Watch, begins: Array, force: float, load: Array) -> float:
    """Return the median time after which twice a force is felt, infinite if most are not; NaN for an infinite force.

    Its efforts are `load`, shape (k, n), per unit.
    """
    if not np.isfinite(force):
        return np.nan
    t, levels = watch.recording.t, np.array(watch.thresholds)
    times = []
    for i, effort in zip(begins.tolist(), 2 * force * load):
        then = slice(i + 1, int(np.searchsorted(t, t[i] + WITHIN)) + 1)
        rise = step_response(t[then] - t[i], watch.bandwidth, watch.effort_filter)[:, None]
        felt = np.flatnonzero(np.any(np.abs(watch.residuals[then] + rise * effort) > levels, axis=1))
        times.append(t[then][felt[0]] - t[i] if len(felt) else np.inf)
    return float(np.median(times))
