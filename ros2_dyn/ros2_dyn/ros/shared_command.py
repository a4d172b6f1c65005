"""What a node and its failsafe process tell each other through shared memory, which outlives either."""

from __future__ import annotations

import mmap
import os
import struct

import numpy as np

from ros2_dyn.runtime.payload_ramp import NO_PAYLOAD
from ros2_dyn.runtime.update import LastCommand

TURN, TAKEN, NODE_BEATS, FAILSAFE_BEATS, SLOTS = 0, 1, 8, 16, 24
"""Places in the memory."""


class SharedCommand:
    """The node's newest command, the heartbeats of both, and whether the failsafe process has taken over."""

    def __init__(self, fd: int, n: int) -> None:
        """Map the memory.

        Args:
            fd: of a file.
            n: number of joints.
        """
        self._count, self._n = 1 + 2 * n + len(NO_PAYLOAD), n
        size = SLOTS + 16 * self._count
        os.ftruncate(fd, size)
        self._memory = mmap.mmap(fd, size)
        self._turn = self._beats = 0

    # ---- of the node

    def update(self, last: LastCommand) -> None:
        """Store a command. A reader always finds a whole one."""
        self._turn = 1 + self._turn % 2
        numbers = np.concatenate([[last.age], last.effort, last.hold, last.payload])
        start = SLOTS + 8 * self._count * (self._turn - 1)
        self._memory[start : start + 8 * self._count] = numbers.tobytes()
        self._memory[TURN] = self._turn  # last, so that no reader finds a half that is being written
        self.beat()

    def beat(self) -> None:
        """Show that the node works."""
        self._count_up(NODE_BEATS)

    def clear(self) -> None:
        """Store that nothing is commanded."""
        self._memory[TURN] = 0

    # ---- of the failsafe process

    def read(self) -> LastCommand | None:
        """Return the newest command, or None where nothing is commanded."""
        if (turn := self._memory[TURN]) == 0:
            return None
        start = SLOTS + 8 * self._count * (turn - 1)
        numbers = np.frombuffer(self._memory[start : start + 8 * self._count])
        n = self._n
        return LastCommand(
            float(numbers[0]), numbers[1 : 1 + n], numbers[1 + n : 1 + 2 * n], tuple(numbers[1 + 2 * n :].tolist())
        )

    def watch(self) -> None:
        """Show that the failsafe process works."""
        self._count_up(FAILSAFE_BEATS)

    def take(self) -> None:
        """Take over: the node must not command any more."""
        self._memory[TAKEN] = 1

    # ---- of both

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
