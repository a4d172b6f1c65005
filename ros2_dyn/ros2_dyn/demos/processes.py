"""Child processes that end with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from ament_index_python.packages import get_package_share_directory

from ros2_dyn.errors import ProcessError

OLD_FAST_DDS = "humble", "iron", "jazzy"
"""Distributions in which another variable names its profiles; from Kilted on every process warns of that one."""
GRACE = 5.0
"""Seconds that a process has to end by itself after SIGINT."""


def stay_on_this_machine(shared_memory: bool = False) -> None:
    """Let ROS 2 discover nobody beyond this machine, unless the user has said otherwise.

    Where processes come and go, Fast DDS's shared memory may hold up everybody for a third of a second and more (its
    issue 6535), which is longer than commands can wait for states; and who begins after another was killed may hear
    nothing (5469). ROS's own variables for this machine bring shared memory with them whatever else is said, so a
    profile says both.

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
