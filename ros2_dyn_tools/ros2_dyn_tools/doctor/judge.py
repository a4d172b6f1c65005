# SPDX-License-Identifier: Apache-2.0
"""The score of a hypothesis: the evidence of all joints, less a price for each fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.doctor.effort_columns import Columns, doubt
from ros2_dyn_tools.doctor.evidence import DISSIPATIVE, JointEvidence, PriorScale, log_likelihood_without_model
from ros2_dyn_tools.doctor.hypothesis import UPRIGHT, Hypothesis, effort_scale, scale_price
from ros2_dyn_tools.doctor.recorded_samples import Samples

FAULT_PRICE = 10.0
"""Logarithm of the odds against a fault, before the recording is seen."""
GAIN_PRICE = 5.0
"""What a gain costs besides, because it may be any."""
SPRING_DOUBT = 0.3
"""Standard deviation of a spring's effort at 0, and of its stiffness per radian or metre, as fractions of the limit."""
NEVER = -1e12
"""Evidence of what cannot be: that efforts of a joint that has none are those of another."""
NO_UNITS: dict[str, Any] = {"efforts": (), "gains": (), "common_gain": 1.0, "percent": False, "heavy": 1.0}
"""What hypotheses may differ in where they give a joint the same mean and the same doubts."""


class Judge:
    """Scores of hypotheses about one recording of one robot."""

    def __init__(
        self, model: RobotModel, samples: Samples, most: int, doubts: Sequence[PriorScale], effort_gain: ArrayLike = 1.0
    ) -> None:
        """Take some of the samples.

        Args:
            model: the robot.
            samples: of its motion.
            most: how many of them are compared, about.
            doubts: see `JointEvidence`.
            effort_gain: what the efforts of the samples are multiplied with already, shape (n,) or ().
        """
        self.model, self.samples, self.effort_gain = model, samples, np.asarray(effort_gain)
        self.limit: Array = effort_scale(model)
        """Effort limits, N m or N, shape (n,)."""
        self.silent: Array = ~np.any(samples.effort, axis=0)
        """Which joints have no efforts, shape (n,): nothing is told from these."""
        self._indices = samples.inner(max(1, round(len(samples.inner(1)) / most)))
        self._doubts = doubts
        self._doubt = doubt(model)
        self._columns = lru_cache(maxsize=64)(lambda order: Columns(model, samples, order, self._indices))
        self._evidence = lru_cache(maxsize=1024)(self._make_evidence)
        self._tip = model.link_frame(None)
        self._mean = lru_cache(maxsize=64)(self._make_mean)
        self._scores = lru_cache(maxsize=2**15)(self._make_scores)
        self._measured = lru_cache(maxsize=64)(lambda delay: samples.effort_at(self._indices, delay))

    def score(self, hypothesis: Hypothesis) -> float:
        """Return the logarithm of a hypothesis' probability, up to a constant."""
        price = FAULT_PRICE * len(hypothesis.faults) + GAIN_PRICE * hypothesis.free_gains
        return float(np.sum(self.joint_scores(hypothesis))) - price - float(scale_price(hypothesis.heavy))

    def joint_scores(self, hypothesis: Hypothesis) -> Array:
        """Return the evidence of each joint, shape (n,)."""
        scales = hypothesis.scales(self.model)
        return np.array([self.gain_scores(hypothesis, j, scales[j : j + 1])[0] for j in range(self.model.n)])

    def gain_scores(self, hypothesis: Hypothesis, joint: int, scales: Array, column: int | None = None) -> Array:
        """Return the evidence of a joint for scales of its effort, or of another column of efforts, shape (k,)."""
        column = hypothesis.efforts[joint] if column is None else column
        if self.silent[joint] or self.silent[column]:
            return np.full(len(scales), 0.0 if joint == column else NEVER)
        springs = (joint,) if joint in hypothesis.springs else ()
        return self._scores(replace(hypothesis, **NO_UNITS, springs=springs), joint, column, tuple(scales.tolist()))

    def _make_scores(self, hypothesis: Hypothesis, joint: int, column: int, scales: tuple[float, ...]) -> Array:
        y, mean = self.measured(hypothesis)[:, column], self.mean(hypothesis)[:, joint]
        return self._of(hypothesis)[joint].log_likelihood(y, mean, np.array(scales))

    def score_without_model(self) -> float:
        """Return the score of the hypothesis that the efforts have nothing to do with the motion."""
        t = self.samples.t[self._indices]
        efforts = self.samples.effort[self._indices].T
        parts = [
            log_likelihood_without_model(t, efforts[j], float(self.limit[j])) for j in np.flatnonzero(~self.silent)
        ]
        return sum(parts) - FAULT_PRICE

    def measured(self, hypothesis: Hypothesis) -> Array:
        """Return the efforts in the recording's order and unit, shape (m, n)."""
        return self._measured(hypothesis.delay)

    def mean(self, hypothesis: Hypothesis) -> Array:
        """Return the efforts of the model, friction apart, N m or N, shape (m, n)."""
        return self._mean(replace(hypothesis, **NO_UNITS, springs=(), delay=0.0))

    def _make_mean(self, hypothesis: Hypothesis) -> Array:
        columns = self._columns(hypothesis.states)
        tau = columns.inertia_effort + columns.weight_effort @ hypothesis.effective_gravity
        if hypothesis.payload:
            tau = tau + self.tip_columns(hypothesis) @ self.tip_parameters(hypothesis.payload)
        return np.asarray(tau)

    def tip_parameters(self, payload: ArrayLike) -> Array:
        """Return the inertial parameters of a point mass at the tip in the frame of the tip's body, shape (10,)."""
        mass, *com = np.asarray(payload, dtype=float)
        x, y, z = self._tip.X.E.T @ com + self._tip.X.r
        return mass * np.array([1.0, x, y, z, y * y + z * z, -x * y, x * x + z * z, -x * z, -y * z, x * x + y * y])

    def weight_columns(self, hypothesis: Hypothesis) -> Array:
        """Return the efforts of the weight per unit of gravity, shape (m, n, 3)."""
        return self._columns(hypothesis.states).weight_effort

    def spring_columns(self, hypothesis: Hypothesis) -> Array:
        """Return the efforts of a spring per unit of its stiffness and of its effort at 0, shape (m, n, 2)."""
        return self._columns(hypothesis.states).spring

    def friction_columns(self, hypothesis: Hypothesis) -> Array:
        """Return the efforts of friction per unit of its parameters, shape (m, n, 6)."""
        return self._columns(hypothesis.states).friction

    def whitened(self, hypothesis: Hypothesis, columns: Array) -> tuple[Array, Array]:
        """Return all joints' errors, (m n,), and columns (m, n, c) as (m n, c), in units of their deviations.

        Of the n joints those without efforts are left out.
        """
        y, mean, scales = self.measured(hypothesis), self.mean(hypothesis), hypothesis.scales(self.model)
        parts = [
            each.whitened(y[:, hypothesis.efforts[j]], mean[:, j], float(scales[j]), columns[:, j])
            for j, each in enumerate(self._of(hypothesis))
            if not self.silent[j]
        ]
        errors, whitened = zip(*parts)
        return np.concatenate(errors), np.concatenate(whitened)

    def tip_columns(self, hypothesis: Hypothesis) -> Array:
        """Return the efforts of unit inertial parameters of the tip's body, shape (m, n, 10)."""
        return self._columns(hypothesis.states).of_body(self._tip.body, np.array(hypothesis.gravity))

    def _of(self, hypothesis: Hypothesis) -> list[JointEvidence]:
        # What a driver compensates is the description's weight: the doubt of the true one stays.
        gravity = tuple(np.round(hypothesis.gravity, 2).tolist())
        springs = hypothesis.springs
        return [self._evidence(hypothesis.states, gravity, j, j in springs) for j in range(self.model.n)]

    def _make_evidence(
        self, order: tuple[int, ...], gravity: tuple[float, ...], joint: int, spring: bool
    ) -> JointEvidence:
        columns, t = self._columns(order), self.samples.t[self._indices]
        limit, speed = float(self.limit[joint]), columns.speed[:, joint]
        doubtful = [columns.inertia[:, joint] + columns.weight[:, joint] @ np.array(gravity)]
        if gravity != UPRIGHT:  # weights of an upright arm may be in the efforts, too: by a driver's own model
            doubtful.append(columns.weight[:, joint] @ np.array(UPRIGHT))
        doubtful = [each * self._doubt for each in doubtful]
        if spring:
            doubtful.append(SPRING_DOUBT * limit * columns.spring[:, joint])
        power = np.array([np.mean(speed**2), np.mean(speed)])[DISSIPATIVE]
        return JointEvidence(
            t, np.hstack(doubtful), columns.friction[:, joint], power=power, limit=limit, doubts=self._doubts
        )
