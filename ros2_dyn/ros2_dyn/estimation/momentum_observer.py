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
from math import inf

from ros2_dyn.estimation.filters import LowPass
from ros2_dyn.estimation.first_order_observer import FirstOrderObserver

OBSERVER_TERMS = ("momentum", "coriolis_transpose_qd", "gravity", "friction")
"""Kernel outputs that `MomentumObserver.observe` takes, in this order."""


class MomentumObserver(FirstOrderObserver):
    """Observer ``r = K (p - integral of (tau + C^T qd - g - friction + r))``, without accelerations or dM/dt."""

    def __init__(self, bandwidth: float, effort_cutoff: float = inf) -> None:
        """Make the observer.

        Args:
            bandwidth: bandwidth K, 1/s.
            effort_cutoff: cut-off of the driver's first-order low-pass of efforts, Hz; infinite: there is none.
        """
        super().__init__(bandwidth)
        self._model = LowPass(effort_cutoff)

    def observe(
        self,
        t: float,
        effort: Sequence[float],
        momentum: Sequence[float],
        coriolis_transpose_qd: Sequence[float],
        gravity: Sequence[float],
        friction: Sequence[float],
    ) -> bool:
        """Add a sample; `value` becomes the external effort, N m or N.

        Args:
            t: time of the sample, s.
            effort: efforts of the motors, N m or N, shape (n,).
            momentum: generalised momentum ``M qd``, shape (n,).
            coriolis_transpose_qd: ``C^T qd``, N m or N, shape (n,).
            gravity: ``g(q)``, with the efforts of springs if there are any, N m or N, shape (n,).
            friction: friction of the joints, N m or N, shape (n,).

        Returns:
            Whether `value` belongs to this sample; see `FirstOrderObserver.update`.
        """
        model, restarts = _model_side(momentum, coriolis_transpose_qd, gravity, friction), self.restarts
        belongs = self.update(t, *_inputs(effort, self._model.update(t, model)))
        if self.restarts != restarts:
            self.replace_last(*_inputs(effort, self._model.restart(t, model)))
        return belongs

    def change_model(
        self,
        effort: Sequence[float],
        momentum: Sequence[float],
        coriolis_transpose_qd: Sequence[float],
        gravity: Sequence[float],
        friction: Sequence[float],
    ) -> None:
        """Go on with another model, as after a change of the payload.

        The momentum steps with the model while the robot does not: without this, the step would count as an external
        effort. The arguments are those of `observe` for the newest sample, by the new model.
        """
        model = _model_side(momentum, coriolis_transpose_qd, gravity, friction)
        self.replace_last(*_inputs(effort, self._model.shift_to(model)))


def _model_side(
    momentum: Sequence[float],
    coriolis_transpose_qd: Sequence[float],
    gravity: Sequence[float],
    friction: Sequence[float],
) -> list[float]:
    """Return the momentum, and its rate without efforts of motors and surroundings, shape (2 n,)."""
    return [*momentum, *(beta - g - f for beta, g, f in zip(coriolis_transpose_qd, gravity, friction))]


def _inputs(effort: Sequence[float], model: Sequence[float]) -> tuple[Sequence[float], list[float]]:
    """Return the momentum and its rate without external efforts from the measured effort and the model's side."""
    n = len(effort)
    return model[:n], [tau + rate for tau, rate in zip(effort, model[n:])]


class DirectObserver(FirstOrderObserver):
    """Direct observer ``r = K / (s + K) (rnea(q, qd, qdd) + friction - tau)``, which needs accelerations."""

    def __init__(self, bandwidth: float, effort_cutoff: float = inf) -> None:
        """Make the observer.

        Args:
            bandwidth: bandwidth K, 1/s.
            effort_cutoff: cut-off of the driver's first-order low-pass of efforts, Hz; infinite: there is none.
        """
        super().__init__(bandwidth)
        self._model = LowPass(effort_cutoff)

    def observe(self, t: float, effort: Sequence[float], expected: Sequence[float]) -> bool:
        """Add a sample; `value` becomes the external effort, N m or N.

        Args:
            t: time of the sample, s.
            effort: efforts of the motors, N m or N, shape (n,).
            expected: efforts by the model without contact, N m or N, shape (n,).

        Returns:
            Whether `value` belongs to this sample; see `FirstOrderObserver.update`.
        """
        restarts, still = self.restarts, [0.0] * len(effort)
        late = self._model.update(t, expected)
        belongs = self.update(t, still, [tau - e for tau, e in zip(effort, late)])
        if self.restarts != restarts:
            late = self._model.restart(t, expected)
            self.replace_last(still, [tau - e for tau, e in zip(effort, late)])
        return belongs


class EnergyObserver(FirstOrderObserver):
    """Observer of the power of external forces, by the robot's energy; it is zero for a robot at rest."""

    def observe(
        self, t: float, effort: Sequence[float], qd: Sequence[float], energy: float, friction: Sequence[float]
    ) -> bool:
        """Add a sample; `value` becomes the external power, W, shape (1,).

        Args:
            t: time of the sample, s.
            effort: efforts of the motors, N m or N, shape (n,).
            qd: joint velocities, rad/s or m/s, shape (n,).
            energy: sum of the kinetic and the potential energy, J.
            friction: friction of the joints, N m or N, shape (n,).

        Returns:
            Whether `value` belongs to this sample; see `FirstOrderObserver.update`.
        """
        return self.update(t, [energy], [sum(v * (tau - f) for v, tau, f in zip(qd, effort, friction))])
