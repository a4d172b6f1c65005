# SPDX-License-Identifier: Apache-2.0
"""The memory that a node shares with its failsafe process: the newest command, two heartbeats, and who commands.

It outlives either process.
"""

from __future__ import annotations

import mmap
import os
import struct

import numpy as np

from ros2_dyn.control.stop import NOTHING_FOUND, StopHandover
from ros2_dyn.runtime.payload_ramp import NO_PAYLOAD
from ros2_dyn.runtime.update import LastCommand

TURN, TAKEN, NODE_BEATS, FAILSAFE_BEATS, SLOTS = 0, 1, 8, 16, 24
"""Places in the memory: which slot is valid (0: none), who commands, heartbeats, and where the slots begin."""


class SharedCommand:
    """The newest command of the node in two slots by turns, so that a reader always finds a whole one."""

    def __init__(self, fd: int, n: int) -> None:
        """Map the memory.

        Args:
            fd: of a file.
            n: number of joints.
        """
        self._n, self._size = n, 8 * (1 + 2 * n + len(NO_PAYLOAD) + len(NOTHING_FOUND.numbers(n)))
        size = SLOTS + 2 * self._size
        os.ftruncate(fd, size)
        self._memory = mmap.mmap(fd, size)
        self._turn = self._beats = 0

    # ---- what the node writes

    def update(self, last: LastCommand) -> None:
        """Store a command."""
        self._turn = 1 + self._turn % 2
        numbers = np.concatenate([[last.age], last.effort, last.hold, last.payload, last.stop.numbers(self._n)])
        start = SLOTS + self._size * (self._turn - 1)
        self._memory[start : start + self._size] = numbers.tobytes()
        self._memory[TURN] = self._turn  # last, so that no reader finds a half that is being written

    def clear(self) -> None:
        """Store that nothing is commanded."""
        self._memory[TURN] = 0

    def beat(self) -> None:
        """Show that the node works."""
        self._count_up(NODE_BEATS)

    # ---- what the failsafe process writes

    def watch(self) -> None:
        """Show that the failsafe process works."""
        self._count_up(FAILSAFE_BEATS)

    def take(self) -> None:
        """Take over for good: the node must not command any more."""
        self._memory[TAKEN] = 1

    # ---- what both read

    def read(self) -> LastCommand | None:
        """Return the node's newest command, or None where it commands nothing."""
        if (turn := self._memory[TURN]) == 0:
            return None
        start, n = SLOTS + self._size * (turn - 1), self._n
        numbers = np.frombuffer(self._memory[start : start + self._size])
        age, effort, hold, payload, stop = np.split(numbers, [1, 1 + n, 1 + 2 * n, 1 + 2 * n + len(NO_PAYLOAD)])
        return LastCommand(float(age[0]), effort, hold, tuple(payload.tolist()), StopHandover.of(stop))

    @property
    def taken(self) -> bool:
        """Whether the failsafe process has taken over."""
        return self._memory[TAKEN] != 0

    @property
    def beats(self) -> int:
        """The node's heartbeat."""
        return self._number(NODE_BEATS)

    @property
    def failsafe_beats(self) -> int:
        """The failsafe process's heartbeat."""
        return self._number(FAILSAFE_BEATS)

    def _number(self, at: int) -> int:
        return int(struct.unpack_from("q", self._memory, at)[0])

    def _count_up(self, at: int) -> None:
        """Change a heartbeat, which one process writes and the other compares."""
        self._beats += 1
        struct.pack_into("q", self._memory, at, self._beats)
