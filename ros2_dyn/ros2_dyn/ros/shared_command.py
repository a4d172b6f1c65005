# SPDX-License-Identifier: Apache-2.0
"""What a node and its failsafe process tell each other through shared memory, which outlives either."""

from __future__ import annotations

import mmap
import os
import struct

import numpy as np

from ros2_dyn.control.stop_handover import NOTHING_FOUND, StopHandover
from ros2_dyn.runtime.payload_ramp import NO_PAYLOAD
from ros2_dyn.runtime.update import LastCommand

NODE_TURN, TAKEN, FAILSAFE_TURN, NODE_BEATS, FAILSAFE_BEATS, SLOTS = 0, 1, 2, 8, 16, 24
"""Places in the memory."""


class CommandRecord:
    """The newest command of one process, which it alone writes. A reader always finds a whole one."""

    def __init__(self, memory: mmap.mmap, turn_at: int, start: int, n: int) -> None:
        """Use two slots by turns.

        Args:
            memory: the memory.
            turn_at: where it says which slot is valid; 0: none.
            start: where the slots begin.
            n: number of joints.
        """
        self._memory, self._turn_at, self._start, self._n = memory, turn_at, start, n
        self._size = record_size(n) // 2
        self._turn = 0

    def update(self, last: LastCommand) -> None:
        """Store a command."""
        self._turn = 1 + self._turn % 2
        numbers = np.concatenate([[last.age], last.effort, last.hold, last.payload, last.stop.numbers(self._n)])
        start = self._start + self._size * (self._turn - 1)
        self._memory[start : start + self._size] = numbers.tobytes()
        self._memory[self._turn_at] = self._turn  # last, so that no reader finds a half that is being written

    def clear(self) -> None:
        """Store that nothing is commanded."""
        self._memory[self._turn_at] = 0

    def read(self) -> LastCommand | None:
        """Return the newest command, or None where nothing is commanded."""
        if (turn := self._memory[self._turn_at]) == 0:
            return None
        start = self._start + self._size * (turn - 1)
        numbers, n = np.frombuffer(self._memory[start : start + self._size]), self._n
        age, effort, hold, payload, stop = np.split(numbers, [1, 1 + n, 1 + 2 * n, 1 + 2 * n + len(NO_PAYLOAD)])
        return LastCommand(float(age[0]), effort, hold, tuple(payload.tolist()), StopHandover.of(stop))


def record_size(n: int) -> int:
    """Return the size of a record for n joints, bytes."""
    return 16 * (1 + 2 * n + len(NO_PAYLOAD) + len(NOTHING_FOUND.numbers(n)))


class SharedCommand:
    """The newest command and the heartbeat of each, and which of them may command."""

    def __init__(self, fd: int, n: int) -> None:
        """Map the memory.

        Args:
            fd: of a file.
            n: number of joints.
        """
        size = SLOTS + 2 * record_size(n)
        os.ftruncate(fd, size)
        self._memory = mmap.mmap(fd, size)
        self.node = CommandRecord(self._memory, NODE_TURN, SLOTS, n)
        """What the node commands."""
        self.failsafe = CommandRecord(self._memory, FAILSAFE_TURN, SLOTS + record_size(n), n)
        """What the failsafe process commands."""
        self._beats = 0

    # ---- of the node

    def beat(self) -> None:
        """Show that the node works."""
        self._count_up(NODE_BEATS)

    def take_back(self) -> None:
        """Take back: the failsafe process does not command any more, for it has ended."""
        self.failsafe.clear()
        self._memory[TAKEN] = 0

    # ---- of the failsafe process

    def watch(self) -> None:
        """Show that the failsafe process works."""
        self._count_up(FAILSAFE_BEATS)

    def take(self) -> None:
        """Take over: the node must not command any more."""
        self._memory[TAKEN] = 1

    # ---- of both

    @property
    def taken(self) -> bool:
        """Whether the failsafe process has taken over, and the node has not taken back."""
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
