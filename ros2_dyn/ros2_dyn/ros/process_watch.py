# SPDX-License-Identifier: Apache-2.0
"""Whether another process has begun to end."""

from __future__ import annotations

import os

PF_EXITING, PF_SIGNALED = 0x4, 0x400
"""Flags of the kernel for a thread that ends, and for one that a signal has killed (sched.h)."""
FLAGS = 6
"""Place of the flags in /proc/PID/stat, counted from behind the name (proc(5))."""
MAX_SIZE = 4096
"""Size of that file, bytes."""


class ProcessWatch:
    """Watches a process by its entry in /proc.

    A process that is killed closes its files only when its memory is freed, and when the processor has time for that:
    after 10 to 100 ms and more. Its main thread is marked at once.
    """

    def __init__(self, pid: int) -> None:
        """Open the entry: it never becomes that of another process of the same number.

        Args:
            pid: of the process.
        """
        try:
            self._stat = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # there is no /proc
            self._stat = -1

    def __del__(self) -> None:
        if self._stat >= 0:
            os.close(self._stat)

    @property
    def ends(self) -> bool:
        """Whether it has ended, or begun to; False where that cannot be seen."""
        if self._stat < 0:
            return False
        try:
            fields = os.pread(self._stat, MAX_SIZE, 0).rpartition(b")")[2].split()
        except ProcessLookupError:
            return True
        return bool(int(fields[FLAGS]) & (PF_EXITING | PF_SIGNALED))
