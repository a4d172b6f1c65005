"""Efforts that a robot's model does not explain, and what each inertial parameter would add to them, window by window.

A window is short. In it everything is averaged with the weight ``1 - (2 s / T)^2``, s being the time from its middle:
with that weight the average of an acceleration is the slope of the straight line through the velocities, so that
nothing has to be differentiated twice (modulating functions; Shinbrot 1957).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from ros2_dyn.dynamics import Presliding, carried_load, friction, inertial_parameters, regressor, spring
from ros2_dyn.errors import InputError
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.spatial import Array

PARAMETERS = 10
"""Inertial parameters of a body, in the order of `inertial_parameters`."""
DURATION = 0.1
"""Shortest duration of a window, s: motions faster than some 5 Hz are averaged away."""
MIN_SAMPLES = 5
"""Smallest number of samples in a window."""
MAX_GAP = 0.5
"""Time between two samples, s, from which on a new window begins."""
SLIDING = 3.0
"""Multiple of the transition velocity of dry friction from which on a joint slides."""
MIN_SLIDING = 0.02
"""Lowest speed, rad/s or m/s, at which a joint counts as sliding."""
Meaning = Literal["raw", "gravity_compensated", "external"]
"""What efforts are measured, as the node's parameter `measured_effort`."""


class Sample(NamedTuple):
    """A measured state; lists have shape (n,)."""

    t: float
    """Time, s."""
    q: Sequence[float]
    """rad or m."""
    qd: Sequence[float]
    """rad/s or m/s."""
    effort: Sequence[float]
    """N m or N."""


class Windows(NamedTuple):
    """Averages over m windows, in order of time, for a robot with n joints and b bodies."""

    columns: Array
    """What each parameter of the payload adds to the efforts, shape (m, n, 10)."""
    bodies: Array
    """What each parameter of the robot's bodies adds, shape (m, n, 10 b)."""
    effort: Array
    """Measured efforts less the model's, N m or N, shape (m, n)."""
    q: Array
    """Positions, rad or m, shape (m, n)."""
    qd: Array
    """Velocities, rad/s or m/s, shape (m, n)."""
    sliding: Array
    """Whether the joint slides in one direction all the time, shape (m, n)."""

    @classmethod
    def join(cls, parts: Sequence[Windows]) -> Windows:
        """Return the windows of several parts as one."""
        return cls(*(np.concatenate(arrays) for arrays in zip(*parts)))


class WindowCutter:
    """Cuts samples into windows as they come."""

    def __init__(self) -> None:
        self.complete: list[list[Sample]] = []
        """Windows that are complete; whoever uses them takes them away."""
        self._open: list[Sample] = []

    def add(self, sample: Sample) -> None:
        """Take a sample; one that is not newer than the last one is left out."""
        if self._open:
            since_last = sample.t - self._open[-1].t
            if -MAX_GAP < since_last <= 0:
                return
            if not 0 < since_last < MAX_GAP:
                self._open = []
        self._open.append(sample)
        if len(self._open) >= MIN_SAMPLES and sample.t - self._open[0].t >= DURATION:
            self.complete.append(self._open)
            self._open = [sample]


class WindowAverager:
    """Averages the windows of one robot, in order of time."""

    def __init__(
        self,
        model: RobotModel,
        link: str,
        gravity: Sequence[float],
        meaning: Meaning = "raw",
        declared: Sequence[float] = (0.0,) * PARAMETERS,
    ) -> None:
        """Prepare it.

        Args:
            model: the robot without payload.
            link: the link that carries the payload.
            gravity: acceleration of free fall in the base frame, m/s^2, shape (3,).
            meaning: what efforts are measured.
            declared: payload that those who measure efforts that are not raw know of, shape (10,), in the link's frame.

        Raises:
            InputError: the robot has no such link, no joint moves it, or a joint has several degrees of freedom.
        """
        frame = model.link_frame(link)
        if frame.body == BASE:
            raise InputError("link", f"'{link}' is fixed to the base: no joint carries what is on it")
        if any(joint.dof > 1 for joint in model.joints):
            raise InputError("link", "a payload is estimated for robots whose joints have one degree of freedom each")
        self._model, self._gravity, self._meaning = model, np.asarray(gravity, dtype=float), meaning
        self._payload = slice(PARAMETERS * frame.body, PARAMETERS * (frame.body + 1))
        units = [SpatialInertia.from_parameters(row).in_parent(frame.X).parameters for row in np.eye(PARAMETERS)]
        self._in_body = np.array(units).T
        """From parameters in the link's frame to those in the body's."""
        self._declared = np.asarray(declared, dtype=float)
        self._presliding = Presliding(model)

    def average(self, windows: Sequence[Sequence[Sample]]) -> Windows:
        """Return the averages over some windows, one or more."""
        t, q, qd, effort = (np.concatenate([[s[k] for s in w] for w in windows]) for k in range(4))
        starts = np.cumsum([0] + [len(w) for w in windows[:-1]])
        which = np.repeat(np.arange(len(windows)), [len(w) for w in windows])

        def total(x: Array) -> Array:
            return np.add.reduceat(x, starts)

        middle = (t[starts] + np.maximum.reduceat(t, starts)) / 2
        half = np.maximum.reduceat(t, starts) - middle
        s = t - middle[which]
        weight = 1 - (s / half[which]) ** 2
        weight /= total(weight)[which]
        s -= (total(s) / total(np.ones_like(s)))[which]
        slope = total(s[:, None] * qd) / total(s**2)[:, None]
        bodies, columns, left = self._efforts(q, qd, slope[which], effort)

        def mean(x: Array) -> Array:
            return total(weight.reshape(-1, *(1,) * (x.ndim - 1)) * x)

        return Windows(mean(columns), mean(bodies), mean(left), mean(q), mean(qd), self._slides(qd, starts))

    def _slides(self, qd: Array, starts: Array) -> Array:
        slow = np.zeros(self._model.n)
        for joint, row in zip(self._model.joints, self._model.v_slices):
            slow[row] = max(MIN_SLIDING, SLIDING * joint.dynamics.transition_velocity)
        lowest, highest = np.minimum.reduceat(qd, starts), np.maximum.reduceat(qd, starts)
        return np.asarray((lowest > slow) | (highest < -slow))

    def _efforts(self, q: Array, qd: Array, qdd: Array, measured: Array) -> tuple[Array, Array, Array]:
        """Return the columns of the bodies and of the payload, and the efforts without explanation, at each sample."""
        model = self._model
        bodies = regressor(model, q, qd, qdd, self._gravity)
        columns = bodies[..., self._payload] @ self._in_body
        if self._meaning == "external":
            return bodies, columns, columns @ self._declared - measured
        rubbing = friction(model, qd, carried_load(model, q, self._gravity)) + spring(model, q)
        if self._presliding:
            rubbing = rubbing + np.array([self._presliding.update(x) for x in q.tolist()])
        expected = bodies @ inertial_parameters(model) + model.armature * qdd + rubbing
        if self._meaning == "gravity_compensated":
            rest = np.zeros_like(qd)
            weights = regressor(model, q, rest, rest, self._gravity)
            carried = inertial_parameters(model)
            carried[self._payload] += self._in_body @ self._declared
            measured = measured + weights @ carried
        return bodies, columns, measured - expected
