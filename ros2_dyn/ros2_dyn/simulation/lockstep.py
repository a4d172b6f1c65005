# SPDX-License-Identifier: Apache-2.0
"""When a simulation takes its next step: at a pace, and in lockstep with the commands that answer its states."""

from __future__ import annotations

from math import inf

from ros2_dyn.errors import InputError

CATCH_UP = 0.1
"""Wall time, s, by which a late simulation may run faster than its pace to catch up; the rest stays lost."""
SETTLING_TIME = 0.5
"""Wall time without a command, s, after which all states that were under way when commands began are answered."""


class Lockstep:
    """Decides from the wall time and from the commands that have arrived when the next step is due.

    Pace: a step of `period` simulated seconds is due `period / pace` wall seconds after the one before.

    Lockstep: a published state is awaited, which means that no step is due until a command has arrived after it.
    Commands have no stamps, so they are only counted. These are the cases:

    - Nothing is commanded yet, or the commanding node has left its mode or died: commands do not flow, no state is
      awaited, and the pace alone decides. It is then at most 1, so that nodes which only follow can keep up.
    - The first command arrives: several states may be under way, each of which is going to be answered. No step is due
      until no command has arrived for `SETTLING_TIME`. From then on commands flow, one for each state.
    - Commands flow, and one arrives: the state is answered. The arm acts on it from that state on, without delay.
    - Commands flow, and none arrives within `timeout` wall seconds: the state is given up, and commands flow no more
      until the next one. So the end of the commands costs one time-out, not one a state.
    - Two commands arrive for one state, for example one of them from a ramp-down timer: the newest acts. The caller
      takes all waiting commands before it publishes the next state: the surplus one does not count as the next answer.
    - The surplus command arrives only after the next state: it counts as its answer, and commands act a period late
      until two of them wait before a step, or until they pause.
    - The state is lost on its way, or the node rejects it: as if the commands had ended. The next command resumes.
    - A step that publishes no state, as with lost or delayed states, is not awaited.
    - The controller that takes commands is switched off: the caller calls `end`, and nothing is awaited from then on.
    """

    def __init__(self, period: float, pace: float, timeout: float) -> None:
        """Begin with a step that is due at once.

        Args:
            period: simulated time of a step, s.
            pace: simulated seconds per wall second; 0: as fast as possible.
            timeout: longest wait for a command, wall s; 0: no lockstep.

        Raises:
            InputError: a number is out of its range.
        """
        for name, value, low in (("period", period, 1e-9), ("pace", pace, 0.0), ("lockstep_timeout", timeout, 0.0)):
            if not low <= value < inf:
                raise InputError(name, f"expected a finite number of at least {low:g}, got {value}")
        self.pace = pace
        self.unanswered = 0
        """Number of states that were given up."""
        self.steps = 0
        """Number of steps taken."""
        self._period, self._timeout = period, timeout
        self._flows = self._settles = self._awaits_answer = False
        self._waits_until = self._due_at = self._started_at = -inf

    @property
    def awaits_command(self) -> bool:
        """Whether the next command may change when the next step is due."""
        return self._settles or self._awaits_answer

    def stepped(self, published: bool, now: float) -> None:
        """Note that a step was taken at wall time `now`, s, and whether it published a state."""
        if self.steps == 0:
            self._started_at = self._due_at = now
        self.steps += 1
        self._due_at = max(self._due_at + self._wall_period(), now - CATCH_UP)
        self._awaits_answer = published and self._flows
        if self._awaits_answer:
            self._waits_until = now + self._timeout

    def commanded(self, now: float) -> None:
        """Note that a command has arrived at wall time `now`, s, for a controller that takes it."""
        self._awaits_answer = False
        if self._timeout > 0 and not self._flows:
            self._settles, self._waits_until = True, now + min(SETTLING_TIME, self._timeout)

    def end(self) -> None:
        """Note that no controller takes commands any more."""
        self._flows = self._settles = self._awaits_answer = False

    def delay(self, now: float) -> float:
        """Return the time until the next step is due if no command arrives, s; 0: it is due now.

        A state is given up here once its time-out has passed.

        Args:
            now: wall time, s.
        """
        if self.awaits_command:
            if now < self._waits_until:
                return self._waits_until - now
            self.unanswered += self._awaits_answer
            self._flows, self._settles, self._awaits_answer = self._settles, False, False
            self._due_at = now  # nothing to catch up with
        return max(0.0, self._due_at - now)

    def _wall_period(self) -> float:
        """Return the wall time of a step that is not awaited, s."""
        pace = self.pace or inf
        if self._timeout > 0 and not self._flows:
            pace = min(pace, 1.0)
        return self._period / pace

    def simulated(self) -> float:
        """Return the simulated time of all steps, s."""
        return self.steps * self._period

    def real_pace(self, now: float) -> float:
        """Return the simulated time over the wall time from the first step until `now`, s; NaN before the second."""
        passed = now - self._started_at
        return (self.steps - 1) * self._period / passed if self.steps > 1 and passed > 0 else float("nan")
