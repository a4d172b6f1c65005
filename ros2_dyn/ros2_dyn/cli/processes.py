"""Child processes that end with their parent."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from types import TracebackType
from typing import IO

from ros2_dyn.errors import ProcessError

GRACE = 5.0
"""Seconds that a process has to end by itself after SIGINT."""


class Processes:
    """Python modules run as processes of their own, started together and stopped together."""

    def __init__(self, **commands: Sequence[str]) -> None:
        """Take the module and arguments of each process, by name."""
        self._commands = commands
        self._running: dict[str, tuple[subprocess.Popen[bytes], IO[bytes]]] = {}

    def __enter__(self) -> Processes:
        for name, command in self._commands.items():
            output = tempfile.TemporaryFile()
            process = subprocess.Popen(
                [sys.executable, "-m", *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in the terminal is the parent's, who stops them in order
            )
            self._running[name] = (process, output)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for process, _ in self._running.values():
            process.send_signal(signal.SIGINT)
        for process, output in self._running.values():
            try:
                process.wait(GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            output.close()

    def check(self) -> None:
        """See that all are running.

        Raises:
            ProcessError: one has ended; the error carries what it printed.
        """
        for name, (process, output) in self._running.items():
            if process.poll() is not None:
                output.seek(0)
                printed = output.read().decode(errors="replace").strip()
                raise ProcessError(name, f"it ended with status {process.returncode}\n{printed}")
