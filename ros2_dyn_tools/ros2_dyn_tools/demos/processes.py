# SPDX-License-Identifier: Apache-2.0
"""Child processes that end with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import IO, NamedTuple

from ros2_dyn.errors import ProcessError

SHUTDOWN_TIMEOUT = 5.0
"""Wall time that a process has to end after SIGINT, s."""


class _Child(NamedTuple):
    process: subprocess.Popen[bytes]
    printed: IO[bytes]
    may_end: bool
    """Whether it may end by itself, with status 0."""


class Processes:
    """Python modules run as processes of their own, which are stopped together."""

    def __init__(self, **commands: Sequence[str]) -> None:
        """Define the processes.

        Args:
            commands: by name, the module and arguments of each process that is started at the beginning.
        """
        self._commands = commands
        self._running: dict[str, _Child] = {}

    def __enter__(self) -> Processes:
        for name, command in self._commands.items():
            self.start(name, command)
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._running.values():
            child.process.send_signal(signal.SIGINT)
        for child in self._running.values():
            try:
                child.process.wait(SHUTDOWN_TIMEOUT)
            except subprocess.TimeoutExpired:
                child.process.kill()
                child.process.wait()
            child.printed.close()

    def start(self, name: str, command: Sequence[str], may_end: bool = False) -> None:
        """Start one more process.

        Args:
            name: its name, which no other one has.
            command: module and arguments.
            may_end: whether it may end by itself, with status 0.
        """
        self._running[name] = _Child(*_start(command), may_end)

    def has_ended(self, name: str) -> bool:
        """Return whether a process has ended."""
        return self._running[name].process.poll() is not None

    def check(self) -> None:
        """Check that all are running, but for those that may end.

        Raises:
            ProcessError: one has ended, or has failed; the error carries what it printed.
        """
        for name, child in self._running.items():
            if self.has_ended(name) and not (child.may_end and child.process.returncode == 0):
                raise ProcessError(name, f"it ended with status {child.process.returncode}\n{self.printed(name)}")

    def printed(self, name: str) -> str:
        """Return what a process has printed so far."""
        file = self._running[name].printed.fileno()
        printed = os.pread(file, os.fstat(file).st_size, 0)  # the process's own offset stays
        return printed.decode(errors="replace").strip()


def _start(command: Sequence[str]) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    printed = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the process has ended)
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        stdin=subprocess.DEVNULL,
        stdout=printed,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # Ctrl-C in the terminal reaches the parent only, which stops its children
    )
    return process, printed
