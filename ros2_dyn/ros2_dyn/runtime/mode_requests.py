# SPDX-License-Identifier: Apache-2.0
"""Requests of modes: whether they may be entered, and the failsafe process that they wait for."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from ros2_dyn.control.events import Event
from ros2_dyn.control.modes import MODES, MONITOR
from ros2_dyn.errors import InputError, ModeRefused, Ros2DynError
from ros2_dyn.runtime.inputs import CommandLink, FailsafeArmed, ModeRequest
from ros2_dyn.runtime.mode_manager import ModeManager
from ros2_dyn.runtime.robot_loader import RobotLoader
from ros2_dyn.runtime.state_sources import StateSources
from ros2_dyn.runtime.update import FailsafeConfig, Reply


class Asked(NamedTuple):
    """What becomes of a request."""

    replies: tuple[Reply, ...] = ()
    failsafe: FailsafeConfig | None = None
    """What a failsafe process has to be armed with first."""
    events: tuple[Event, ...] = ()


class ModeRequests:
    """Enters modes that may be entered."""

    def __init__(self, modes: ModeManager, loader: RobotLoader, sources: StateSources) -> None:
        """Create it for the modes of a runtime; the loader and the sources of states may forbid them."""
        self._modes, self._loader, self._sources = modes, loader, sources
        self._waiting: list[ModeRequest] = []
        self._armed: FailsafeConfig | None = None
        self._armed_at = -inf
        self._due = False

    def on_request(self, asked: ModeRequest, now: float) -> Asked:
        """Enter or leave a mode at a time, s; or wait for a failsafe process that it needs.

        Raises:
            InputError: there is no such mode.
            ModeRefused: it may not be entered.
        """
        if asked.mode == MONITOR:
            self._modes.leave()
            waiting, self._waiting = self._waiting, []
            left = [Reply(each.request, ModeRefused(each.mode, "monitor was requested meanwhile")) for each in waiting]
            return Asked((*left, Reply(asked.request)))
        if asked.mode not in MODES:
            raise InputError("mode", f"expected one of monitor, {', '.join(MODES)}; got '{asked.mode}'")
        self._check_no_load(asked.mode)
        if problem := self._sources.problem(now):
            raise ModeRefused(asked.mode, problem)
        self._modes.check_entry(asked.mode, now)
        config = self._modes.failsafe_config()
        if config is not None and not (self._armed == config and self._modes.link.failsafe_alive):
            self._waiting.append(asked)
            return Asked(failsafe=config)
        return self._enter([asked], now)

    def on_link(self, link: CommandLink, now: float) -> None:
        """Take what is known of the failsafe process at a time, s: another one is due where it was lost amid commands.

        Not within 2 s of the start of the last one.
        """
        lost = self._modes.commands and self._armed is not None and not link.failsafe_alive
        if lost and now - self._armed_at >= 2.0:
            self._armed, self._due = None, True

    def on_robot_changed(self) -> None:
        """Take notice of another robot or parameters, which the failsafe process has to know while commands leave."""
        self._due = self._modes.commands

    def take_due_failsafe(self) -> FailsafeConfig | None:
        """Return what another failsafe process has to be armed with, once: it must know the robot that is commanded."""
        due, self._due = self._due, False
        config = self._modes.failsafe_config() if due else None
        return None if config == self._armed else config

    def on_failsafe_armed(self, armed: FailsafeArmed, now: float) -> Asked:
        """Enter the modes that waited for a failsafe process, or refuse them; at a time, s."""
        waiting, self._waiting = self._waiting, []
        problem = armed.problem
        self._armed = armed.config if problem is None else None
        if problem is None:
            self._armed_at = now
            self._modes.on_failsafe_armed()
        elif not waiting:  # it was for a robot that changed amid a mode
            self._modes.stop("failsafe lost", f": {problem}")
        if problem is None and armed.config != self._modes.failsafe_config():
            problem = Ros2DynError("the robot or parameters changed meanwhile: ask again")
        if problem is None:
            return self._enter(waiting, now)
        return Asked(tuple(Reply(each.request, ModeRefused(each.mode, str(problem))) for each in waiting))

    def _enter(self, waiting: list[ModeRequest], now: float) -> Asked:
        replies, events = [], []
        for asked in waiting:
            try:
                self._check_no_load(asked.mode)
                events.append(Event("mode entered", self._modes.enter(asked.mode, now), "info"))
                replies.append(Reply(asked.request))
            except ModeRefused as refused:
                replies.append(Reply(asked.request, refused))
        return Asked(tuple(replies), None, tuple(events))

    def _check_no_load(self, mode: str) -> None:
        """Check that no robot is being made: a mode must not begin under parameters that are about to change."""
        if self._loader.busy:
            raise ModeRefused(mode, "another robot or other parameters are being prepared: ask again")
