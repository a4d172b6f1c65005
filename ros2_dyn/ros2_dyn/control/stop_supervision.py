# SPDX-License-Identifier: Apache-2.0
"""Supervision of a stop by the arm's motion: after a stop the joints' speeds must fall, and the arm must stay at rest.

Speeds are ranges of the measured positions over short windows, so that a driver's wrong velocities hide no motion.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from ros2_dyn.control.rest_effort import MAX_STRETCH
from ros2_dyn.model.spatial import Array

REST_SPEED = 0.05
"""Speed below which a joint is at rest, rad/s or m/s."""
MAX_TRAVEL = 0.3
"""Distance, rad or m, that a joint may move after it has come to rest."""
MAX_REST_SPEED = 0.5
"""Speed, rad/s or m/s, to which an arm that came to rest may be pushed."""
MAX_TIME = 1.0
"""Time within which a stop has to bring the arm to rest, s."""
WINDOW = 0.06
"""Duration of the windows in which speeds are compared, s. A failure is noticed after two of them. States that are slow
lengthen it to two periods."""
HELD_SPEED = 0.5
"""Speed from which a joint is only damped, rad/s or m/s: a spring that the slew rate delays would make it swing."""
MAX_PAUSE = 0.2
"""Pause of the states, s, after which the arm is held where it is then: nobody saw it move."""
SHORT_WINDOW = 0.04
"""Duration of the window in which a growing speed is noticed, s."""
MAX_SLEWING = 0.2
"""Time after a stop, s, after which speeds have to fall even if the command is still slewing."""
MAX_RATIO = 0.85
"""Largest ratio of the speeds in two consecutive windows. Damping with 5 1/s gives 0.74."""
MAX_CREEP_RATIO = 1.02
"""Largest ratio of an arm that creeps, and does not speed up: springs hold it before the stop has failed."""
MAX_HELD_RATIO = 0.95
"""Largest ratio of an arm that springs hold: they take over gradually what damping alone has balanced."""
MIN_DECELERATION = 2.0
"""Deceleration, rad/s^2 or m/s^2, that is enough whatever the ratio: braking at the effort limits is linear."""
SLOW = 0.1
"""Speed below which an arm is held, and may take `MAX_TIME` to come to rest, rad/s or m/s."""
GROWTH = 1.2, 0.2
"""A speed that exceeds the first times that at the stop plus the second, rad/s or m/s, grows."""
LAST_STAGE = 2
"""Number of escalations of a stop."""


class StopFailure(NamedTuple):
    """Why a stop failed."""

    text: str
    """What the arm did, in words."""
    joints: Array
    """Which joints did it, shape (n,), bool."""


class StopSupervision:
    """Judges a stop from its request until the next mode is entered.

    A stop takes effect when the command has reached the braking effort. From then on each window of `WINDOW` must be
    slower than the one before, until the arm is at rest. It is held there, and may not move away by itself. An arm that
    creeps is held before: springs make up for the model's error, where damping alone only balances it.

    Joints are left without effort only if they were accelerated by an effort. What an arm does that exerts nothing says
    nothing about the commands, which a controller may follow later.
    """

    def __init__(self) -> None:
        self.stage = 0
        """Number of escalations: 1: the effort at rest carries the arm; 2: some joints are left without effort."""
        self.anchor: Array | None = None
        """Where the arm is held, rad or m, shape (n,); None: it has neither become slow nor was the stop escalated.
        It follows an arm that moves, so that the arm does not come back far."""
        self._history: deque[tuple[float, Array]] = deque()
        self._speeds: dict[tuple[float, float], Array | None] = {}
        """What `_speed` has found at the newest state."""
        self._window = WINDOW
        self._withdrawn: Array | None = None
        self.reset()

    def reset(self) -> None:
        """Forget stops: a mode begins."""
        self.stage, self.anchor, self._withdrawn = 0, None, None
        self._pending, self._requested_at = False, np.inf
        self._begun: float | None = None
        self._rest: Array | None = None

    def restart(self) -> None:
        """Forget the motion, too: commands begin."""
        self.reset()
        self._history.clear()
        self._speeds.clear()

    @property
    def found(self) -> tuple[int, Array | None, Array | None]:
        """What escalations have led to: the stage, the anchor, and which joints are left without effort."""
        return self.stage, self.anchor, self._withdrawn

    def go_on(self, stage: int, anchor: Array | None, withdrawn: Array | None) -> None:
        """Go on where another process was: with its `found`."""
        self.stage, self.anchor, self._withdrawn = stage, anchor, withdrawn

    def request(self) -> None:
        """Judge a stop from the next state on; one that was escalated stays so."""
        self._pending = True

    def observe(self, now: float, q: Array) -> None:
        """Take the positions of a state, rad or m, shape (n,), at a time, s."""
        history = self._history
        if self.anchor is not None and history and now - history[-1][0] > MAX_PAUSE:
            self.anchor = q
        history.append((now, q))
        self._speeds.clear()
        self._window = max(WINDOW, now - history[-3][0]) if len(history) > 2 else WINDOW
        while len(history) > 5 and history[1][0] <= now - 2 * self._window:
            history.popleft()

    @property
    def at_rest(self) -> bool:
        """Whether no joint has moved during the last window."""
        speed = self._speed(0.0, self._window)
        return speed is not None and bool((speed < REST_SPEED).all())

    def judge(
        self, qd: Array, settled: bool, obeyed: bool = False, inert: bool = False, age: float = 0.0
    ) -> StopFailure | None:
        """Judge the newest state after a stop was requested; return why the stop failed, if it did.

        Args:
            qd: measured velocities, rad/s or m/s, shape (n,).
            settled: whether the command has reached the braking effort.
            obeyed: whether measured efforts follow the commands: what then moves the arm in spite of the effort at rest
                is no wrong wiring, but a push, and no effort is withdrawn.
            inert: whether the joints exert nothing, whatever is commanded.
            age: age of the state, s. What was measured before the stop, and waited for its turn, does not judge it.
        """
        now, q = self._history[-1]
        if self._pending:
            self._requested_at = min(self._requested_at, now + age)
            if now < self._requested_at - SHORT_WINDOW:
                return None
            self._requested_at = np.inf
        speed = self._speed(0.0, SHORT_WINDOW)
        if self.anchor is not None:
            held = np.clip(self.anchor, q - MAX_STRETCH, q + MAX_STRETCH)
            self.anchor = held if speed is None else np.where(speed < HELD_SPEED, held, q)
        elif self._begun is not None and speed is not None and np.all(speed < SLOW):
            self.anchor = q
        if self._pending:
            self._begin(now, np.abs(qd) if speed is None else np.maximum(speed, np.abs(qd)))
        if self._begun is None or self.stage >= LAST_STAGE - obeyed:
            return None
        if self.stage and inert:
            self._pending = True  # judged from the first state on at which the command acts
            return None
        failure = self._find_failure(now, q, speed, settled)
        if failure is not None:
            self.stage, self.anchor = self.stage + 1, q
            if self.stage == LAST_STAGE:
                self._withdrawn = failure.joints
            self._pending = True
        return failure

    def withdraw(self, effort: Array) -> Array:
        """Return an effort without that of the joints which two efforts could not stop, N m or N, shape (n,)."""
        return effort if self._withdrawn is None else np.where(self._withdrawn, 0.0, effort)

    def _begin(self, now: float, speed: Array) -> None:
        self._pending, self._begun, self._effective_at = False, now, np.inf
        self._reference = float(np.max(speed))
        self._rest = None

    def _find_failure(self, now: float, q: Array, speed: Array | None, settled: bool) -> StopFailure | None:
        assert self._begun is not None
        if self._rest is not None:
            return self._leaves_rest(q, self._rest, speed) if self.stage == 0 else None
        if self.at_rest:
            self._rest = q
            return None
        if self._effective_at == np.inf and (settled or now - self._begun > MAX_SLEWING):
            self._effective_at = now
            if self.stage and speed is not None:
                self._reference = float(np.max(speed))  # it may have grown until now
        failure = self._find_growth(now, speed)
        return self._find_no_fall(now) if failure is None and self.stage == 0 else failure

    def _find_growth(self, now: float, speed: Array | None) -> StopFailure | None:
        """Return the failure of a stop that accelerates the arm; after an escalation, once the command has settled."""
        since = self._begun if self.stage == 0 else self._effective_at
        if speed is None or since is None or now - since < SHORT_WINDOW:
            return None
        grows = speed > GROWTH[0] * self._reference + GROWTH[1]
        if not np.any(grows):
            return None
        return StopFailure(f"{np.max(speed):.2g} rad/s or m/s after {self._reference:.2g} before", grows)

    def _find_no_fall(self, now: float) -> StopFailure | None:
        """Return the failure of a stop that does not brake the arm enough; an arm that creeps is held first."""
        window = self._window
        before, lately = self._speed(window, 2 * window), self._speed(0.0, window)
        if before is None or lately is None or self._begun is None or now - self._effective_at < 2 * window:
            return None
        fastest, earlier = float(np.max(lately)), float(np.max(before))
        ratio = MAX_RATIO if self.anchor is None else MAX_HELD_RATIO
        falls = fastest <= max(ratio * earlier, earlier - MIN_DECELERATION * window, SLOW)
        if now - self._begun <= MAX_TIME:
            if falls:
                return None
            if self.anchor is None and fastest <= min(MAX_CREEP_RATIO * earlier, HELD_SPEED):
                self.anchor, self._effective_at = self._history[-1][1], now
                return None
        stuck = (lately >= REST_SPEED) & ((lately > MAX_RATIO * before) | (lately == fastest))
        return StopFailure(f"{fastest:.2g} rad/s or m/s, {now - self._begun:.2g} s after the stop", stuck)

    def _leaves_rest(self, q: Array, rest: Array, speed: Array | None) -> StopFailure | None:
        travel = np.abs(q - rest)
        far = travel > MAX_TRAVEL
        if speed is not None:
            far |= speed > MAX_REST_SPEED
        if not np.any(far):
            return None
        return StopFailure(f"a joint moved by {np.max(travel):.2g} rad or m after the arm had come to rest", far)

    def _speed(self, end: float, begin: float) -> Array | None:
        """Return the range of the positions between two times before now, s, over that time; None while unknown."""
        if (end, begin) not in self._speeds:
            self._speeds[end, begin] = self._measure_speed(end, begin)
        return self._speeds[end, begin]

    def _measure_speed(self, end: float, begin: float) -> Array | None:
        history = self._history
        if not history:
            return None
        now, tolerance = history[-1][0], 1e-6
        if history[0][0] > now - begin + tolerance:
            return None
        inside = [each for each in history if now - begin - tolerance <= each[0] <= now - end + tolerance]
        if len(inside) < 2:  # states are farther apart than the window
            inside = list(history)[-2:]
        span = inside[-1][0] - inside[0][0]
        return np.ptp([q for _, q in inside], axis=0) / span if span > 0 else None
