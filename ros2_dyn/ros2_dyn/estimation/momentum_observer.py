"""Observers of external joint efforts: by the momentum, by the effort itself, and by the energy.

Sources: De Luca and Mattone 2005; Haddadin, De Luca and Albu-Schaeffer 2017. The inputs are the measured effort and
the terms of a kernel at the measured state. An external effort is positive where the surroundings push a joint in its
positive direction: ``M qdd + c + g + friction = tau + external``.
"""

from __future__ import annotations

from collections.abc import Sequence

from ros2_dyn.estimation.first_order_observer import FirstOrderObserver

OBSERVER_TERMS = ("momentum", "coriolis_transpose_qd", "gravity", "friction")
"""Kernel outputs that `MomentumObserver.observe` takes, in this order."""


class MomentumObserver(FirstOrderObserver):
    """Observer ``r = K (p - integral of (tau + C^T qd - g - friction + r))``, without accelerations or dM/dt."""

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
        return self.update(t, momentum, _momentum_rate(effort, coriolis_transpose_qd, gravity, friction))

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
        self.replace_last(momentum, _momentum_rate(effort, coriolis_transpose_qd, gravity, friction))


def _momentum_rate(
    effort: Sequence[float], coriolis_transpose_qd: Sequence[float], gravity: Sequence[float], friction: Sequence[float]
) -> list[float]:
    """Return the rate of the momentum without external efforts, N m or N."""
    return [tau + beta - g - f for tau, beta, g, f in zip(effort, coriolis_transpose_qd, gravity, friction)]


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
        return self.update(t, [0.0] * len(effort), [tau - e for tau, e in zip(effort, expected)])


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
