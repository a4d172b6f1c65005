# SPDX-License-Identifier: Apache-2.0
"""Doubt of the model: what efforts should have done against what the arm did, and when a difference is too much.

A difference is an effort of a joint, N m or N: measured or seen in the motion, minus expected by the model. Friction
and a declared tolerance explain some of it. The rest is doubt, accumulated over time (CUSUM, Page 1954).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, inf
from typing import NamedTuple

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.controller_probe import OBEYED
from ros2_dyn.model.spatial import Array, clip

MODEL_DOUBTED = "model doubted"
"""Kind of a stop: the arm does not move as the model expects. Gravity compensation cannot be trusted."""
CONTROLLER_DOES_NOT_FOLLOW = "controller does not follow"
"""Kind of a stop: the measured efforts are not those commanded. Commands may go to the wrong joints, or nowhere."""


class Allowance(NamedTuple):
    """What explains the differences of one joint, N m or N; at each state this is quicker with floats than arrays."""

    tolerance: float
    """Declared tolerance."""
    dry: float
    """Dry friction at rest, which may have either sign."""
    sliding: float
    """Uncertainty of the dry friction in motion."""
    viscous: float
    """Uncertainty of the viscous friction, N m s/rad or N s/m."""

    def at(self, speed: float) -> float:
        """Return the allowed difference at a speed, rad/s or m/s, not negative."""
        moving = min(speed / 0.1, 1.0)  # rad/s or m/s, from which on the sign of dry friction is known
        return self.tolerance + self.dry + moving * (self.sliding - self.dry) + self.viscous * speed


def allowance(motor_effort: float, dry: float, viscous: float, tolerance: float) -> Allowance:
    """Return what explains the differences of a joint.

    A moving joint may differ from its declared friction by a half. One that declares none, or less than a thousandth of
    what its motor may exert, may have that of a UR10: 5 % of it, and 8 % per rad/s.

    Args:
        motor_effort: what its motor may exert, N m or N.
        dry: declared breakaway friction, N m or N.
        viscous: declared viscous friction, N m s/rad or N s/m.
        tolerance: declared tolerance, as a fraction of that effort.
    """
    if max(dry, viscous) >= 1e-3 * motor_effort:
        return Allowance(tolerance * motor_effort, dry, 0.5 * dry, 0.5 * viscous)
    dry = 0.05 * motor_effort
    return Allowance(tolerance * motor_effort, dry, dry, 0.08 * motor_effort)


def contact_allowance(J: Array, force: float, wrench: Array | None = None) -> Array:
    """Return the joint efforts that contact at the tip may cause, N m or N, shape (n,).

    Args:
        J: Jacobian of the tip, linear rows first, shape (6, n).
        force: largest force that is expected, N.
        wrench: wrench that the tip is to exert besides, and gets back, N and N m, shape (6,); None: none.
    """
    moment = 0.1 * force  # on a lever of 0.1 m about the tip
    if wrench is not None:
        force, moment = force + hypot(*wrench[:3]), moment + hypot(*wrench[3:])
    linear, angular = np.sqrt(np.einsum("kin,kin->kn", *(J.reshape(2, 3, -1),) * 2))
    return force * linear + moment * angular


def lost_payload(arm: ArmState, payload: Array, gravity: Array) -> Array:
    """Return the external effort that the loss of a payload of the tip looks like, N m or N, shape (n,).

    The arm moves as if something lifted it by the payload's weight.

    Args:
        arm: state of the arm.
        payload: inertial parameters in the tip's frame, mass first, then mass times centre of mass.
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,).
    """
    force = -payload[0] * gravity
    moment = np.cross(arm.pose[:3, :3] @ payload[1:4], -gravity)  # m r x (-g)
    return arm.J.T @ np.concatenate([force, moment])


def looks_lost(external: Array, lost: Array, allowed: Array) -> bool:
    """Return whether the loss of a payload explains external efforts, rather than a contact.

    Args:
        external: N m or N, shape (n,).
        lost: `lost_payload`, N m or N, shape (n,).
        allowed: efforts that weigh the same, N m or N, shape (n,).
    """
    d, e = external / allowed, lost / allowed
    size, expected = float(np.sqrt(d @ d)), float(np.sqrt(e @ e))
    return 0.6 * expected <= size <= 2.5 * expected and float(d @ e) >= 0.85 * size * expected


def mean_difference(t: Array, momentum: Array, model_rate: Array) -> Array:
    """Return the mean effort over some states that the model does not expect, N m or N, shape (n,).

    The momentum changes by the integral of its rate by the model and of that effort. No acceleration is needed.

    Args:
        t: times of the states, s, shape (m,), increasing.
        momentum: generalised momentum, shape (m, n).
        model_rate: its rate by the model, ``tau + C^T qd - g - friction``, N m or N, shape (m, n).

    Returns:
        Positive where a joint exerts more than its motion needs.
    """
    span = t[-1] - t[0]
    if span < 0.05:  # s, in which the change of a momentum is mostly noise
        return np.asarray(np.mean(model_rate, axis=0))
    mean_rate = np.sum(np.diff(t)[:, None] * (model_rate[1:] + model_rate[:-1]) / 2, axis=0) / span
    return np.asarray(mean_rate - (momentum[-1] - momentum[0]) / span)


class Doubt:
    """Accumulated doubt of each joint: it grows while a difference is above the allowed one, and shrinks below it."""

    BORNE = 0.03
    """Time for which twice the allowed difference is borne, s."""

    def __init__(self, n: int) -> None:
        self._sum = [0.0] * n
        self._t = inf

    @property
    def joints(self) -> Array:
        """Which joints are doubted, shape (n,), bool."""
        return np.array(self._sum) > self.BORNE

    def update(self, t: float, differences: Sequence[float], allowed: Sequence[float]) -> int | None:
        """Take the differences at a time, s, N m or N, each of shape (n,); return the joint that is doubted, if any."""
        dt = min(max(t - self._t, 0.0), 0.012)  # s: two states at least make a doubt
        self._t = t
        self._sum = [  # an outlier is no doubt, and one that lasted is over as soon as it began
            min(max(0.0, doubt + dt * (min(abs(d) / e, 3.0) - 1.0)), 2 * self.BORNE)
            for doubt, d, e in zip(self._sum, differences, allowed)
        ]
        worst = max(self._sum)
        return self._sum.index(worst) if worst > self.BORNE else None


class Unanswered:
    """Which joints' efforts do not change as their commands do, while a controller does not follow.

    A derated drive gives a part of each command, and more of a larger one. Where another controller moves a joint, no
    command changes what it exerts, and what makes up for the difference would wind up.
    """

    def __init__(self, n: int) -> None:
        """Know nothing yet of n joints."""
        self.joints: Array = np.zeros(n, dtype=bool)
        """These joints, shape (n,), bool."""
        self._lacks = Doubt(n)
        self._first: list[tuple[Array, Array]] = []
        """Efforts and commands of the first states, each N m or N, shape (n,): one alone is noisy."""
        self._until = inf

    def forget(self) -> None:
        """Take notice that the controller follows."""
        if self._first:
            self.joints, self._lacks, self._first = np.zeros_like(self.joints), Doubt(len(self.joints)), []

    def update(self, t: float, exerted: Array, low: Array, high: Array, allowed: Array) -> None:
        """Take the efforts at a time, s, and what was commanded lately.

        Args:
            t: time of the state, s.
            exerted: measured efforts, N m or N, shape (n,).
            low: smallest command that they may follow, N m or N, shape (n,).
            high: the largest one, N m or N, shape (n,).
            allowed: changes of commands that say nothing, N m or N, shape (n,).
        """
        if not self._first:
            self._first, self._until = [(exerted, clip(exerted, low, high))], t + Doubt.BORNE
        elif t <= self._until:
            self._first.append((exerted, clip(self._first[-1][1], low, high)))
        before, commanded = np.mean(self._first, axis=0)
        change = clip(commanded, low, high) - commanded
        answer = (exerted - before) * np.sign(change)
        lack = np.where(np.abs(change) > allowed, np.maximum(np.abs(change) - answer / OBEYED, 0.0), 0.0)
        self._lacks.update(t, lack.tolist(), allowed.tolist())
        self.joints = self.joints | self._lacks.joints
