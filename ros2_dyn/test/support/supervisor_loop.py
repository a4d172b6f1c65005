# SPDX-License-Identifier: Apache-2.0
"""A command supervisor in virtual time, fed with states of an arm that creeps, slower than what counts as motion."""

from __future__ import annotations

from collections import Counter

import numpy as np

from control_states import made_up
from ros2_dyn.control.command_supervisor import RAMP_DOWN_PERIOD, CommandSupervisor, SupervisorPolicy
from ros2_dyn.control.effort_limiter import CommandLimits
from ros2_dyn.control.events import Event
from ros2_dyn.control.stop.seen import BrakeInput, SeenState

LIMITS = CommandLimits(("a", "b"), np.array([10.0, 4.0]), np.array([50.0, 20.0]), np.array([1.0, 2.0]))
SAFE, HOLD = np.array([1.0, -1.0]), np.array([1.2, -0.8])
IMPLAUSIBLE = {"problem": "it repeats the same numbers"}
PERIOD = 0.004
"""Period of the states, s."""
STOP_BEHAVIOURS = ("hold_gravity", "zero_effort", "none")


class SupervisorLoop:
    """Plays states to a supervisor, and keeps its commands and events."""

    def __init__(self, **policy) -> None:
        self.supervisor = CommandSupervisor(LIMITS, SupervisorPolicy(**policy))
        self.now = 100.0
        self.effort = np.array([2.0, 1.0])
        self.sent: list[np.ndarray] = []
        self.events: list[Event] = []

    @property
    def counts(self) -> Counter[str]:
        """Number of events of each kind."""
        self.events += self.supervisor.take_events()
        return Counter(event.kind for event in self.events)

    def enter(self, mode="gravity", applied=(0.0, 0.0), age=0.0, unmodelled=None) -> None:
        """Enter a mode."""
        self.supervisor.enter(mode, applied=applied, gravity=HOLD, age=age, now=self.now, unmodelled=unmodelled)

    def step(self, n: int = 1, dt: float = PERIOD, collision: bool = False, **seen) -> np.ndarray | None:
        """Play states, after a collision where there is one; return the last command."""
        if collision and self.supervisor.is_active:
            self.supervisor.stop("collision")
        command = None
        for _ in range(n):
            self.now += dt
            q = np.array([0.01 * np.sin(self.now), 0.3])
            given = {"now": self.now, "age": 0.001, "q": q, "qd": np.array([0.005, 0.0])} | seen
            command, seen_now = None, SeenState(**given)
            accepted = self.supervisor.accept(seen_now)
            if accepted and self.supervisor.is_active:
                command = self.supervisor.follow(self.effort, HOLD, self.now)
            if accepted and self.supervisor.stops:
                arm = made_up(1e-99 * np.eye(2), given["q"], given["qd"])  # springs of so light an arm exert nothing
                brake = BrakeInput(arm, 15.0, HOLD, SAFE, np.zeros(2), np.zeros(2, dtype=bool))
                command = self.supervisor.brake(seen_now, brake)
            if command is not None:
                self.sent.append(command)
        return command

    def silence(self, seconds: float) -> np.ndarray | None:
        """Play no state for a while, s; return the last command that came all the same."""
        commands = self.silences(seconds)
        return commands[-1] if commands else None

    def silences(self, seconds: float) -> list[np.ndarray]:
        """Play no state for a while, s; return the commands that came all the same."""
        commands = []
        for _ in range(round(seconds / RAMP_DOWN_PERIOD)):
            self.now += RAMP_DOWN_PERIOD
            command = self.supervisor.ramp_down(self.now)
            if command is not None:
                commands.append(command)
        return commands
