# SPDX-License-Identifier: Apache-2.0
"""Child processes that end with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

from ament_index_python.packages import get_package_share_directory

from ros2_dyn.errors import ProcessError

OLD_FAST_DDS = "humble", "iron", "jazzy"
"""Distributions whose Fast DDS reads its profiles from the old variable; since Kilted it warns where that is set."""
SHUTDOWN_TIMEOUT = 5.0
"""Wall time that a process has to end after SIGINT, s."""


def use_localhost_only(shared_memory: bool = False) -> None:
    """Limit the discovery of ROS 2 to this machine, unless the user's environment says otherwise.

    Fast DDS's shared memory is off by default. Where processes come and go it may block all of them for a third of a
    second (its issue 6535), which is longer than commands can wait for states, and a process that starts after another
    was killed may receive nothing (5469). ROS's own variables for this machine turn shared memory on, so a profile sets
    both.

    Args:
        shared_memory: whether Fast DDS may use it.
    """
    fast_dds = os.environ.get("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp").startswith("rmw_fastrtps")
    distribution = os.environ.get("ROS_DISTRO")
    if fast_dds and not shared_memory:
        profile = Path(get_package_share_directory("ros2_dyn"), "config", "loopback.xml")
        library = "FASTRTPS" if distribution in OLD_FAST_DDS else "FASTDDS"
        os.environ.setdefault(f"{library}_DEFAULT_PROFILES_FILE", str(profile))
    elif distribution == "humble":
        os.environ.setdefault("ROS_LOCALHOST_ONLY", "1")
    else:
        os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")


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
        return (
            os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace").strip()
        )  # the process's own offset stays


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
