"""External joint efforts without accelerations: three observers, of momentum, of force and of energy.

De Luca and Mattone 2005; Haddadin, De Luca and Albu-Schaeffer 2017. Each takes what a kernel computes at a measured
state, and the measured effort. External effort is positive where the surroundings push a joint in its positive
direction: ``M qdd + c + g + friction = tau + external``.
"""

from __future__ import annotations

from collections.abc import Sequence

from ros2_dyn.estimation.low_pass import LowPassedRate

OBSERVER_TERMS = ("momentum", "transposed_coriolis", "gravity", "friction")
"""What a kernel has to compute for `MomentumObserver.update`, in this order."""


class MomentumObserver(LowPassedRate):
    """``r = K (p - integral of (tau + C^T qd - g - friction + r))``: neither an acceleration nor dM/dt is needed."""

    def observe(
        self,
        t: float,
        effort: Sequence[float],
        momentum: Sequence[float],
        transposed_coriolis: Sequence[float],
        gravity: Sequence[float],
        friction: Sequence[float],
    ) -> bool:
        """Take a sample; `value` is then the external effort, N m or N.

        Args:
            t: its time, s.
            effort: what the motors exert, N m or N.
            momentum: ``M qd``.
            transposed_coriolis: ``C^T qd``.
            gravity: ``g(q)``, and springs where there are any.
            friction: of the joints.

        Returns:
            as `LowPassedRate.update`.
        """
        terms = zip(effort, transposed_coriolis, gravity, friction)
        return self.update(t, momentum, [tau + beta - g - f for tau, beta, g, f in terms])


class ForceObserver(LowPassedRate):
    """The direct residual ``r = K / (s + K) (rnea(q, qd, qdd) + friction - tau)``, which needs an acceleration."""

    def observe(self, t: float, effort: Sequence[float], expected: Sequence[float]) -> bool:
        """Take a sample; `value` is then the external effort, N m or N.

        Args:
            t: its time, s.
            effort: what the motors exert, N m or N.
            expected: what they would exert were nothing else there, N m or N.

        Returns:
            as `LowPassedRate.update`.
        """
        return self.update(t, [0.0] * len(effort), [tau - e for tau, e in zip(effort, expected)])


class EnergyObserver(LowPassedRate):
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
            as `LowPassedRate.update`.
        """
        return self.update(t, [energy], [sum(v * (tau - f) for v, tau, f in zip(qd, effort, friction))])
