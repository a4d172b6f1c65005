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
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.recording.detection import smallest_steps, step_response
from ros2_dyn_tools.recording.effort_filter import NO_FILTER, EffortFilter
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.report.contact_report import BANDWIDTH, CollisionReport

FELT = 0.9
"""Share of the pushes that are felt."""
QUIET = 0.5
"""Share of the motion in which nothing is felt without a push, below which forces are not told."""
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
    joint: str
    """The next joint, at which it acts; empty at the tip."""
    direction: str
    """"x", "y" or "z" of the base, to either side; "easiest" or "hardest" of 26; "about x" and so on."""
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

    @classmethod
    def of(cls, contact: CollisionReport, effort_filter: EffortFilter = NO_FILTER) -> Watch:
        """Return what is seen of all of a recording: forces depend on the posture, and its parts have others."""
        return cls(contact.whole, contact.observed, contact.thresholds, BANDWIDTH, effort_filter)


def felt_forces(model: RobotModel, watch: Watch, tip: str | None = None) -> list[FeltForce]:
    """Return the smallest forces that are felt at the tip and at the far end of each link, where its next joint is.

    Args:
        model: the robot; its joints have one degree of freedom.
        watch: a motion without contact. Pushes set in where nothing is felt without them.
        tip: the link at the tip; the model's `default_tip` for None.

    Raises:
        InputError: the robot lacks the link, the motion is too short, or a joint is felt in most of it without a push.
    """
    begins, needed = smallest_steps(
        watch.recording,
        watch.residuals,
        watch.thresholds,
        bandwidth=watch.bandwidth,
        within=WITHIN,
        effort_filter=watch.effort_filter,
    )
    quiet = np.all(needed > 0, axis=(1, 2))
    if np.mean(quiet) < QUIET:
        raise InputError("thresholds", f"they are exceeded without a push in {1 - np.mean(quiet):.0%} of the motion")
    pushes = _Pushes(watch, begins[quiet], needed[quiet])
    q = watch.recording.q[pushes.begins]
    units = DIRECTIONS / np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)
    found = []
    for link, joint, J in _places(model, q, tip):
        per_newton = np.einsum("dc,kcn->kdn", units, J)
        forces = pushes.smallest(per_newton)
        worst = {axis: _hardest(forces, np.abs(units[:, i]) == 1.0) for i, axis in enumerate(AXES)}
        worst |= {"easiest": int(np.argmin(forces)), "hardest": int(np.argmax(forces))}
        for direction, d in worst.items():
            force = float(forces[d])
            found.append(FeltForce(link, joint, direction, force, pushes.delay(force, per_newton[:, d])))
    about = jacobian(model, q, tip)[:, 3:]
    per_newton = np.concatenate([about, -about], axis=1)
    moments = pushes.smallest(per_newton)
    for i, axis in enumerate(AXES):
        d = _hardest(moments, np.arange(6) % 3 == i)
        moment = float(moments[d])
        delay = pushes.delay(moment, per_newton[:, d])
        found.append(FeltForce(tip or model.default_tip, "", f"about {axis}", moment, delay))
    return found


def _places(model: RobotModel, q: Array, tip: str | None) -> Iterator[tuple[str, str, Array]]:
    """Yield link, next joint and linear Jacobian, base axes, (k, 3, n), of far ends and the tip."""
    for joint, parent in enumerate(model.lambda_):
        if parent >= 0:
            J = jacobian(model, q, model.child_links[joint])[:, :3]
            J[..., joint] = 0.0  # the force acts on the link before this joint
            yield model.child_links[parent], model.joint_names[joint], J
    yield tip or model.default_tip, "", jacobian(model, q, tip)[:, :3]


def _hardest(forces: Array, among: Array) -> int:
    """Return which of some directions needs the largest force."""
    return int(np.argmax(np.where(among, forces, -1.0)))


class _Pushes(NamedTuple):
    """Pushes that set in at k states of a motion."""

    watch: Watch
    begins: Array
    """Indices of the states, shape (k,)."""
    needed: Array
    """Efforts that are felt upwards and downwards, N m or N, shape (k, n, 2)."""

    def smallest(self, per_newton: Array) -> Array:
        """Return the force that nine of ten pushes need, N, shape (d,), from the efforts of 1 N, shape (k, d, n)."""
        efforts = np.where(per_newton > 0, self.needed[:, None, :, 0], self.needed[:, None, :, 1])
        none = np.abs(per_newton) <= SMALL * np.max(np.abs(per_newton))
        forces = np.min(np.where(none, np.inf, efforts) / np.where(none, 1.0, np.abs(per_newton)), axis=-1)
        return np.quantile(forces, FELT, axis=0, method="higher")

    def delay(self, force: float, per_newton: Array) -> float:
        """Return the median time after which twice a force is felt, s; infinite if most are not, NaN for such a force.

        Its efforts are `per_newton`, shape (k, n), per unit.
        """
        if not np.isfinite(force):
            return np.nan
        watch = self.watch
        t, levels = watch.recording.t, np.array(watch.thresholds)
        times = []
        for i, effort in zip(self.begins.tolist(), 2 * force * per_newton):
            then = slice(i + 1, int(np.searchsorted(t, t[i] + WITHIN)) + 1)
            rise = step_response(t[then] - t[i], watch.bandwidth, watch.effort_filter)[:, None]
            felt = np.flatnonzero(np.any(np.abs(watch.residuals[then] + rise * effort) > levels, axis=1))
            times.append(t[then][felt[0]] - t[i] if len(felt) else np.inf)
        return float(np.median(times))
