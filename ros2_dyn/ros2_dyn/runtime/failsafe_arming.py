# SPDX-License-Identifier: Apache-2.0
"""The failsafe process as the runtime knows it: what it is armed with, and which modes wait until it is."""

from __future__ import annotations

from math import inf

from ros2_dyn.runtime.inputs import CommandLink, FailsafeArmed, ModeRequest
from ros2_dyn.runtime.update import FailsafeConfig

REARM_PERIOD = 2.0
"""Time after the start of a failsafe process, s, from which on another one is started if it is lost amid commands."""


class FailsafeArming:
    """What the failsafe process of one runtime is armed with."""

    def __init__(self) -> None:
        self._armed: FailsafeConfig | None = None
        self._armed_at = -inf
        self._waiting: list[ModeRequest] = []
        self._due = False

    def is_armed(self, config: FailsafeConfig, link: CommandLink) -> bool:
        """Return whether a process with this robot and these parameters stands by."""
        return self._armed == config and link.failsafe_alive

    def await_it(self, request: ModeRequest) -> None:
        """Let the request of a mode wait until a process is armed."""
        self._waiting.append(request)

    def on_armed(self, armed: FailsafeArmed, now: float) -> list[ModeRequest]:
        """Take notice that a process is armed at a time, s, or cannot be; return the requests that waited for it."""
        waiting, self._waiting = self._waiting, []
        self._armed = None if armed.problem is not None else armed.config
        self._armed_at = now if armed.problem is None else self._armed_at
        return waiting

    def on_link(self, link: CommandLink, commands: bool, now: float) -> None:
        """Take what is known of the process at a time, s: another one is due where it was lost amid commands."""
        lost = commands and self._armed is not None and not link.failsafe_alive
        if lost and now - self._armed_at >= REARM_PERIOD:
            self._armed, self._due = None, True

    def on_robot_changed(self, commands: bool) -> None:
        """Take notice of another robot or parameters, which the process has to know while commands leave."""
        self._due = commands

    def take_due(self, config: FailsafeConfig | None) -> FailsafeConfig | None:
        """Return what another process has to be armed with now, once; None where none is due."""
        due, self._due = self._due, False
        return config if due and config != self._armed else None
