"""Child processes that end with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import IO

from ros2_dyn.errors import ProcessError

GRACE = 5.0
"""Seconds that a process has to end by itself after SIGINT."""


def stay_on_this_machine() -> None:
    """Let ROS 2 discover nobody beyond this machine, unless the user has said otherwise; Humble has another name."""
    if os.environ.get("ROS_DISTRO") == "humble":
        os.environ.setdefault("ROS_LOCALHOST_ONLY", "1")
    else:
        os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")


def without_shared_memory() -> None:
    """Let Fast DDS use UDP, unless the user has said otherwise.

    Where processes come and go, its shared memory may hold up everybody for a third of a second (its issue 6535), which
    is longer than commands can wait for states; and who begins after another was killed may hear nothing (5469).
    """
    os.environ.setdefault("FASTDDS_BUILTIN_TRANSPORTS", "UDPv4")


class Processes:
    """Python modules run as processes of their own, started together and stopped together."""

    def __init__(self, **commands: Sequence[str]) -> None:
        """Take the module and arguments of each process, by name."""
        self._commands = commands
        self._running: dict[str, tuple[subprocess.Popen[bytes], IO[bytes]]] = {}

    def __enter__(self) -> Processes:
        for name, command in self._commands.items():
            self._running[name] = _start(command)
        return self

    def __exit__(self, *_: object) -> None:
        for process, _printed in self._running.values():
            process.send_signal(signal.SIGINT)
        for process, printed in self._running.values():
            try:
                process.wait(GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            printed.close()

    def check(self) -> None:
        """See that all are running.

        Raises:
            ProcessError: one has ended; the error carries what it printed.
        """
        for name, (process, _printed) in self._running.items():
            if process.poll() is not None:
                raise ProcessError(name, f"it ended with status {process.returncode}\n{self.printed(name)}")

    def printed(self, name: str) -> str:
        """What one of them has printed so far."""
        file = self._running[name][1].fileno()
        return os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace").strip()  # it writes where it is


def _start(command: Sequence[str]) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    printed = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the process has ended)
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        stdin=subprocess.DEVNULL,
        stdout=printed,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # Ctrl-C in the terminal is the parent's, who stops them in order
    )
    return process, printed
