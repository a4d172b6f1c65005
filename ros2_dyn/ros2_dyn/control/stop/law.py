# SPDX-License-Identifier: Apache-2.0
"""What brakes an arm and then holds it: springs to where damping brings it to rest, and the sum of their efforts."""

from __future__ import annotations

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.effort_limiter import CommandLimits
from ros2_dyn.model.spatial import Array, clip

MAX_TRAVEL = 0.3
"""Distance that a stopped joint may go from where it rested, rad or m. Springs reach half as far."""
MAX_STRETCH = MAX_TRAVEL / 2
FAST = 0.2
"""A spring that drives a joint faster than this, rad/s or m/s, begins anew: one that a hand lets go is not thrown."""


def position_hold(M: Array, stretch: Array, damping: float, most: Array) -> Array:
    """Return the efforts of springs that hold the joints at positions, N m or N, shape (n,).

    With a damping by momentum of the given rate, motions are damped with a ratio of 0.75. A joint that is farther away
    than `MAX_STRETCH` is drawn no harder: a longer spring would throw it back.

    Args:
        M: mass matrix, shape (n, n).
        stretch: how far the joints are from there, rad or m, shape (n,).
        damping: rate of the damping, 1/s.
        most: what a spring exerts at most, N m or N, shape (n,).
    """
    return clip(-((damping / 1.5) ** 2) * (M @ clip(stretch, -MAX_STRETCH, MAX_STRETCH)), -most, most)


def nearest_to_zero(a: Array, b: Array) -> Array:
    """Return of each pair of numbers the smaller one, or zero where their signs differ, shape (n,)."""
    return clip(np.zeros_like(a), np.minimum(a, b), np.maximum(a, b))


class Hold:
    """Springs that keep the joints to the motion of a right model, and an effort that makes up for the model's error.

    Damping d alone brings a joint to rest like ``exp(-d t)``, after a way of ``qd / d``. The anchors go this way: where
    the model is right, the springs exert nothing. Otherwise damping d, springs ``(d / 1.5)^2`` and the sum of their
    efforts at ``d / 6`` have the poles ``s^3 + d s^2 + (d / 1.5)^2 s + (2 / 27) d^3 = 0``, all with the real part
    ``-d / 3``: an error decays like that, and the delay that the damping bears is borne by all of them. A spring grows
    no longer than `MAX_STRETCH`, but the joint drags its anchor along: what is missing of the effort goes into the sum.

    The sum grows only by what opposes a motion, and decays at the rate d while it drives one, by no more than a spring
    ``d^2`` gives way. So it feeds no energy: a joint that a hand has pushed is not thrown back by it. Noise at rest
    takes nothing from it. Where the rate changes, as the loop becomes later, the sum takes up what springs lose; and
    what one exerts that can do no more where its joint is slow: it begins anew there, or the joint would creep on.
    """

    def __init__(self) -> None:
        self.anchor: Array | None = None
        """Where springs hold the joints, rad or m, shape (n,); None: where they are seen next."""
        self.correction: Array | None = None
        """What carries the arm beyond the model's gravity, N m or N, shape (n,); None: nothing."""
        self._way: Array | float = 0.0
        self._stretch: Array = np.zeros(1)
        self._spring: Array | None = None
        self._moves: Array = np.zeros(1, dtype=bool)

    def forget(self) -> None:
        """Hold the joints where they are when they are seen next; those at rest with what has held them until now."""
        if self._spring is not None:
            self.take_up(self.at_rest(self._spring))
        self.anchor = self._spring = None

    def rest(self, q: Array) -> None:
        """Hold the joints from now on at positions, rad or m, shape (n,), with what has held them there until now.

        A spring that is as long as it may be would draw a joint no harder that moves on.
        """
        self.forget()
        self.anchor, self._way = q, 0.0

    def take_up(self, lost: Array) -> None:
        """Carry the joints on with what something else has carried them with until now, N m or N, shape (n,)."""
        self.correction = self.carrying(lost)

    def give_up(self, joints: Array | bool, beyond: Array) -> None:
        """Carry joints, (n,), bool, by no more beyond the model than is measured of them, N m or N, shape (n,)."""
        correction = self.carrying(np.zeros_like(beyond))
        self.correction = np.where(joints, nearest_to_zero(correction, beyond), correction)

    def at_rest(self, effort: Array | float) -> Array:
        """Return what of an effort holds joints at rest, N m or N, shape (n,): one that moves would be thrown by it."""
        return np.where(self._moves, 0.0, effort)

    def carrying(self, gravity: Array) -> Array:
        """Return what carries the arm where the model says `gravity`; each N m or N, shape (n,)."""
        return gravity if self.correction is None else gravity + self.correction

    def holding(self, gravity: Array) -> Array:
        """Return what carries the arm, with what springs held joints at rest with until now; each N m or N, (n,)."""
        return self.carrying(gravity) + (0.0 if self._spring is None else self.at_rest(self._spring))

    def pulls_against(self, effort: Array, q: Array) -> Array:
        """Return which springs pull against an effort, N m or N, at positions, rad or m, each (n,): shape (n,), bool.

        Where the springs begin is not known yet, all may.
        """
        return effort != 0 if self.anchor is None else effort * (self.anchor - q) < 0

    def spring(
        self,
        arm: ArmState,
        rate: float,
        limits: CommandLimits,
        *,
        gravity: Array,
        speed: Array,
        loose: Array,
        moves: Array,
        dt: float,
        anew: Array | bool = False,
    ) -> Array:
        """Return the efforts of the springs at a state, N m or N, shape (n,).

        Args:
            arm: state of the arm.
            rate: of the damping, 1/s.
            limits: of the joints. A spring is as strong as can be built up in the time in which it turns an arm
                around: a stronger one would act late, and make the arm swing.
            gravity: what carries the arm by its model, as it would be commanded, N m or N, shape (n,).
            speed: of the joints lately, by their positions, rad/s or m/s, shape (n,). The way begins with no more: a
                velocity that is wrong once would send the anchors away, and the sum after them.
            loose: joints whose springs begin anew, shape (n,), bool.
            moves: joints that no friction holds, shape (n,), bool: the others are held where they are, and add nothing
                to the sum.
            dt: time since the state before, s.
            anew: joints that are held where they are in each state, with what has held them, shape (n,), bool.

        Returns:
            The efforts; zeros where nothing is known of the delay.
        """
        q, qd, self._moves = arm.q, arm.qd, moves
        if rate <= 0:
            self._spring = None
            return np.zeros_like(q)
        if self.anchor is None:
            self.anchor, self._way = q, np.where(moves, clip(qd, -speed, speed), 0.0) / rate
            dt = 0.0  # the way begins here
        most = limits.slew_rate * 1.5 / rate

        def held(stretch: Array) -> Array:  # what accelerates the other joints alone would drive one that is free
            return np.where(anew, 0.0, position_hold(arm.M, stretch, rate, most))

        if self._spring is not None:
            thrown = (self._stretch * qd < 0) & (self._way * qd <= 0) & (np.minimum(speed, np.abs(qd)) > FAST)
            spent = thrown | anew | (~moves & (np.abs(self._spring) >= most))
            lost = self._spring - held(np.where(spent, 0.0, self._stretch))
            self.correction = self.carrying(np.where(loose, 0.0, lost))
            self.anchor, self._way = np.where(spent, q, self.anchor), np.where(spent, 0.0, self._way)
        gone = self._way * (1 - np.exp(-rate * dt))
        self.anchor, self._way = np.where(loose, q, self.anchor + gone), self._way - gone
        stretch = q - self.anchor
        self._stretch = clip(stretch, -MAX_STRETCH, MAX_STRETCH)
        self.anchor = q - self._stretch
        self._spring = held(self._stretch)
        dragged = -((rate / 1.5) ** 2) * (arm.M @ (stretch - self._stretch))
        growth = dragged + np.where(moves, self._spring * rate / 6 * dt, 0.0)
        growth = np.where(growth * qd < 0, growth, 0.0)
        sum_ = self.carrying(np.zeros_like(q))
        given_way = rate**2 * np.diag(arm.M) * np.abs(qd) * dt
        decay = np.where(moves & (sum_ * qd > 0), clip(sum_ * (1 - np.exp(-rate * dt)), -given_way, given_way), 0.0)
        learned = np.where(loose, 0.0, growth) - decay
        low, high = np.minimum(-limits.effort - gravity, 0.0), np.maximum(limits.effort - gravity, 0.0)
        self.correction = clip(self.carrying(learned), low, high)  # what no command can contain would be kept
        return self._spring
