"""External joint efforts without accelerations: three observers, of momentum, of force and of energy.

De Luca and Mattone 2005; Haddadin, De Luca and Albu-Schaeffer 2017. Each takes what a kernel computes at a measured
state, and the measured effort. External effort is positive where the surroundings push a joint in its positive
direction: ``M qdd + c + g + friction = tau + external``.
"""

from __future__ import annotations

from collections.abc import Sequence

from ros2_dyn.estimation.first_order_observer import FirstOrderObserver

OBSERVER_TERMS = ("momentum", "coriolis_transpose_qd", "gravity", "friction")
"""What a kernel has to compute for `MomentumObserver.update`, in this order."""


class MomentumObserver(FirstOrderObserver):
    """``r = K (p - integral of (tau + C^T qd - g - friction + r))``: neither an acceleration nor dM/dt is needed."""

    def observe(
        self,
        t: float,
        effort: Sequence[float],
        momentum: Sequence[float],
        coriolis_transpose_qd: Sequence[float],
        gravity: Sequence[float],
        friction: Sequence[float],
    ) -> bool:
        """Take a sample; `value` is then the external effort, N m or N.

        Args:
            t: its time, s.
            effort: what the motors exert, N m or N.
            momentum: ``M qd``.
            coriolis_transpose_qd: ``C^T qd``.
            gravity: ``g(q)``, and springs where there are any.
            friction: of the joints.

        Returns:
            as `FirstOrderObserver.update`.
        """
        terms = zip(effort, coriolis_transpose_qd, gravity, friction)
        return self.update(t, momentum, [tau + beta - g - f for tau, beta, g, f in terms])


class DirectObserver(FirstOrderObserver):
    """The direct residual ``r = K / (s + K) (rnea(q, qd, qdd) + friction - tau)``, which needs an acceleration."""

    def observe(self, t: float, effort: Sequence[float], expected: Sequence[float]) -> bool:
        """Take a sample; `value` is then the external effort, N m or N.

        Args:
            t: its time, s.
            effort: what the motors exert, N m or N.
            expected: what they would exert were nothing else there, N m or N.

        Returns:
            as `FirstOrderObserver.update`.
        """
        return self.update(t, [0.0] * len(effort), [tau - e for tau, e in zip(effort, expected)])


class EnergyObserver(FirstOrderObserver):
    """The power of external forces, from the robot's energy alone: one number, blind to a robot at rest."""

    def observe(
        self, t: float, effort: Sequence[float], qd: Sequence[float], energy: float, friction: Sequence[float]
    ) -> bool:
        """Take a sample; `value` is then one number: the external power, W.

        Args:
            t: its time, s.
            effort: what the motors exert, N m or N.
            qd: joint velocities, rad/s or m/s.
            energy: kinetic and potential, J.
            friction: of the joints, N m or N.

        Returns:
            as `FirstOrderObserver.update`.
        """
        return self.update(t, [energy], [sum(v * (tau - f) for v, tau, f in zip(qd, effort, friction))])
