# SPDX-License-Identifier: Apache-2.0
"""The node's side of its failsafe process: when the node takes the arm back from a process that had taken over.

Each is the other's failsafe. A process that dies while it commands leaves the arm with an effort that fits no motion.
"""

from __future__ import annotations

from typing import NamedTuple

from ros2_dyn.runtime.heartbeat import Heartbeat
from ros2_dyn.runtime.update import LastCommand


class FailsafeSigns(NamedTuple):
    """What is seen of a failsafe process that has taken over."""

    alive: bool = True
    """Whether it has not ended."""
    beats: int = 0
    """Its heartbeat: a number that changes while it works."""
    command: LastCommand | None = None
    """Its newest command; None where its commands have ended in order."""


class FailsafeWatch:
    """Watches a failsafe process that has taken over. To be asked every `RAMP_DOWN_PERIOD`.

    A process that is held up is to be killed, and the arm taken back when it has ended: so two never command.
    """

    def __init__(self, state_timeout: float) -> None:
        """Begin.

        Args:
            state_timeout: maximum age of a state that a command may be based on, s.
        """
        self._heart = Heartbeat(state_timeout)

    def why_take_back(self, signs: FailsafeSigns, now: float, steady: float | None = None) -> str:
        """Return why the process must not command any more; empty where it may.

        Args:
            signs: what is seen of it.
            now: time, s.
            steady: real time, s, where `now` is a simulation's; None: `now`.
        """
        self._heart.look(signs.beats, now, steady)
        if signs.command is None:
            self._heart.forget()
            return ""
        if not signs.alive:
            return "the failsafe process has ended while it commanded"
        held_up = f"the failsafe process was held up for {1e3 * self._heart.silence:.0f} ms"
        return held_up if self._heart.held_up else ""

    def last_command(self, command: LastCommand, now: float) -> LastCommand:
        """Return its newest command as it is at a time, s."""
        return command._replace(age=command.age + max(now - self._heart.beat_at, 0.0))
