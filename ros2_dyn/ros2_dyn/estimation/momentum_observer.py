# SPDX-License-Identifier: Apache-2.0
"""Observers of external joint efforts: by the momentum, by the effort itself, and by the energy.

Sources: De Luca and Mattone 2005; Haddadin, De Luca and Albu-Schaeffer 2017. The inputs are the measured effort and
the terms of a kernel at the measured state. An external effort is positive where the surroundings push a joint in its
positive direction: ``M qdd + c + g + friction = tau + external``.

Where the driver publishes efforts behind a low-pass F, the observers put F on all that comes from the model: what is
measured and what is expected are late alike then, and r is the external effort behind F, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, isfinite

from ros2_dyn.estimation.filters import LowPass

OBSERVER_TERMS = ("momentum", "coriolis_transpose_qd", "gravity", "friction")
"""Kernel outputs that `MomentumObserver.observe` takes, in this order."""
MAX_GAP_PERIODS = 5.0
"""Interval between samples, in sample periods, above which the observer restarts."""
MAX_GAP = 0.5
"""Interval between samples, s, above which the observer restarts."""
PERIOD_WEIGHT = 0.05
"""Weight of the newest interval in the running average of the sample period."""
MIN_INTERVALS = 5
"""Number of intervals after which the average is taken for the sample period: samples may come in pairs."""


class FirstOrderObserver:
    """Observer ``r = K / (s + K) (x' - u)``, discretised exactly for inputs that are constant between two samples.

    It equals ``r = K (x - x(0) - integral of (u + r))``. Where x is the generalised momentum and u its rate by the
    model, r is the external effort. A step of height tau crosses a threshold e after
    ``-ln(1 - e/tau) / K``; white noise of standard deviation s on x becomes ``s K``, where K dt is small.
    """

    def __init__(self, bandwidth: float, effort_cutoff: float = inf) -> None:
        """Make the observer.

        Args:
            bandwidth: bandwidth K, 1/s.
            effort_cutoff: cut-off of the driver's first-order low-pass of efforts, Hz; infinite: there is none.
        """
        self.bandwidth, self._driver = bandwidth, LowPass(effort_cutoff)
        self.value: list[float] = []
        """Newest r; empty before the first sample."""
        self.restarts = -1
        """Number of restarts, because of a gap between samples, a step back in time, or numbers without end."""
        self._t, self._period, self._intervals = inf, 0.0, 0
        self._x: Sequence[float] = ()
        self._u: Sequence[float] = ()

    def update(self, t: float, x: Sequence[float], u: Sequence[float]) -> bool:
        """Add a sample.

        Args:
            t: time of the sample, s. A sample that is not later than the last one is ignored. After a gap, or a step
                back by more than a gap, the observer restarts with r = 0.
            x: the quantity, shape (n,).
            u: sum of the known inputs, in units of x per second, shape (n,).

        Returns:
            Whether `value` belongs to this sample.
        """
        dt, gap = t - self._t, self._gap()
        if self.value and -gap < dt <= 0:
            return False
        goes_on = bool(self.value) and 0 < dt <= gap
        if goes_on:
            self._intervals += 1
            self._period += max(PERIOD_WEIGHT, 1 / self._intervals) * (dt - self._period)
            a, rate = 1 - exp(-self.bandwidth * dt), 1 / dt
            self.value = [
                r + a * (rate * (x1 - x0) - (u0 + u1) / 2 - r)
                for r, x0, x1, u0, u1 in zip(self.value, self._x, x, self._u, u)
            ]
            goes_on = isfinite(sum(self.value))
        if not goes_on:
            self._period, self._intervals, self.restarts = 0.0, 0, self.restarts + 1
            self.value = [0.0] * len(x)
        self._t, self._x, self._u = t, x, u
        return True

    def update_effort(self, t: float, effort: Sequence[float], x: Sequence[float], u: Sequence[float]) -> bool:
        """Add a sample of a measured effort, which is a known input, beside the quantity and the other inputs.

        Quantity and other inputs are the model's, and pass the low-pass of the driver, as the effort has.
        """
        model, restarts = [*x, *u], self.restarts
        belongs = self.update(t, *_known(effort, self._driver.update(t, model)))
        if self.restarts != restarts:
            self._x, self._u = _known(effort, self._driver.restart(t, model))
        return belongs

    def replace_effort(self, effort: Sequence[float], x: Sequence[float], u: Sequence[float]) -> None:
        """Take the newest sample of `update_effort` for another one, as where the model has changed; `value` stays."""
        self._x, self._u = _known(effort, self._driver.shift_to([*x, *u]))

    def _gap(self) -> float:
        """Return the interval, s, above which the observer restarts."""
        return MAX_GAP if self._intervals < MIN_INTERVALS else min(MAX_GAP_PERIODS * self._period, MAX_GAP)


def _known(effort: Sequence[float], model: Sequence[float]) -> tuple[Sequence[float], list[float]]:
    """Return the quantity and the sum of its known inputs, of an effort and of both as the model has them, (2 n,)."""
    n = len(effort)
    return model[:n], [tau + rate for tau, rate in zip(effort, model[n:])]


class MomentumObserver(FirstOrderObserver):
    """Observer ``r = K (p - integral of (tau + C^T qd - g - friction + r))``, without accelerations or dM/dt."""

    def observe(self, t: float, effort: Sequence[float], terms: Sequence[Sequence[float]]) -> bool:
        """Add a sample; `value` becomes the external effort, N m or N.

        Args:
            t: time of the sample, s.
            effort: efforts of the motors, N m or N, shape (n,).
            terms: the four `OBSERVER_TERMS`, shape (n,) each: generalised momentum ``M qd``; ``C^T qd``, N m or N;
                ``g(q)``, with the efforts of springs if there are any, N m or N; friction of the joints, N m or N.

        Returns:
            Whether `value` belongs to this sample; see `FirstOrderObserver.update`.
        """
        momentum, *rates = terms
        return self.update_effort(t, effort, momentum, _momentum_rate(*rates))

    def change_model(self, effort: Sequence[float], terms: Sequence[Sequence[float]]) -> None:
        """Go on with another model, as after a change of the payload.

        The momentum steps with the model while the robot does not: without this, the step would count as an external
        effort. The arguments are those of `observe` for the newest sample, by the new model.
        """
        momentum, *rates = terms
        self.replace_effort(effort, momentum, _momentum_rate(*rates))


def _momentum_rate(
    coriolis_transpose_qd: Sequence[float], gravity: Sequence[float], friction: Sequence[float]
) -> list[float]:
    """Return the rate of the momentum without efforts of motors and surroundings, N m or N, shape (n,)."""
    return [beta - g - f for beta, g, f in zip(coriolis_transpose_qd, gravity, friction)]


class DirectObserver(FirstOrderObserver):
    """Direct observer ``r = K / (s + K) (rnea(q, qd, qdd) + friction - tau)``, which needs accelerations."""

    def observe(self, t: float, effort: Sequence[float], expected: Sequence[float]) -> bool:
        """Add a sample; `value` becomes the external effort, N m or N.

        Args:
            t: time of the sample, s.
            effort: efforts of the motors, N m or N, shape (n,).
            expected: efforts by the model without contact, N m or N, shape (n,).

        Returns:
            Whether `value` belongs to this sample; see `FirstOrderObserver.update`.
        """
        return self.update_effort(t, effort, [0.0] * len(effort), [-e for e in expected])
