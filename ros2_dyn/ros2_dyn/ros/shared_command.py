# SPDX-License-Identifier: Apache-2.0
"""The memory that a node shares with its failsafe process: the newest command, two heartbeats, and who commands.

It outlives either process.
"""

from __future__ import annotations

import mmap
import os

import numpy as np

from ros2_dyn.control.stop.machine import NOTHING_FOUND, StopFindings
from ros2_dyn.runtime.payload_ramp import NO_PAYLOAD
from ros2_dyn.runtime.update import LastCommand


class SharedCommand:
    """The newest command of the node in two slots by turns, so that a reader always finds a whole one."""

    def __init__(self, fd: int, n: int) -> None:
        """Map the memory.

        Args:
            fd: of a file.
            n: number of joints.
        """
        size = 1 + 2 * n + len(NO_PAYLOAD) + len(NOTHING_FOUND.numbers(n))
        parts = [
            ("turn", "u1"),
            ("taken", "u1"),
            ("node_beats", "i8"),
            ("failsafe_beats", "i8"),
            ("slots", "f8", (2, size)),
        ]
        layout = np.dtype(parts, align=True)
        os.ftruncate(fd, layout.itemsize)
        self._n, self._memory = n, np.frombuffer(mmap.mmap(fd, layout.itemsize), layout)[0]
        self._turn = self._beats = 0

    # ---- what the node writes

    def update(self, last: LastCommand) -> None:
        """Store a command."""
        self._turn = 1 + self._turn % 2
        numbers = np.concatenate([[last.age], last.effort, last.hold, last.payload, last.stop.numbers(self._n)])
        self._memory["slots"][self._turn - 1] = numbers
        self._memory["turn"] = self._turn  # last, so that no reader finds a half that is being written

    def clear(self) -> None:
        """Store that nothing is commanded."""
        self._memory["turn"] = 0

    def beat(self) -> None:
        """Show that the node works."""
        self._count_up("node_beats")

    # ---- what the failsafe process writes

    def watch(self) -> None:
        """Show that the failsafe process works."""
        self._count_up("failsafe_beats")

    def take(self) -> None:
        """Take over for good: the node must not command any more."""
        self._memory["taken"] = 1

    # ---- what both read

    def read(self) -> LastCommand | None:
        """Return the node's newest command, or None where it commands nothing."""
        if (turn := int(self._memory["turn"])) == 0:
            return None
        n, numbers = self._n, self._memory["slots"][turn - 1].copy()
        age, effort, hold, payload, stop = np.split(numbers, [1, 1 + n, 1 + 2 * n, 1 + 2 * n + len(NO_PAYLOAD)])
        return LastCommand(float(age[0]), effort, hold, tuple(payload.tolist()), StopFindings.of(stop))

    @property
    def taken(self) -> bool:
        """Whether the failsafe process has taken over."""
        return bool(self._memory["taken"])

    @property
    def beats(self) -> int:
        """The node's heartbeat."""
        return int(self._memory["node_beats"])

    @property
    def failsafe_beats(self) -> int:
        """The failsafe process's heartbeat."""
        return int(self._memory["failsafe_beats"])

    def _count_up(self, of: str) -> None:
        """Change a heartbeat, which one process writes and the other compares."""
        self._beats += 1
        self._memory[of] = self._beats
