# SPDX-License-Identifier: Apache-2.0
"""The runner of a demo: it starts processes, calls services, waits for conditions, and shows the table meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from math import inf
from typing import IO, Any, NamedTuple

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rich.console import RenderableType
from rich.live import Live

from ros2_dyn.errors import ProcessError

TIMEOUT = 60.0
"""Wall time that a condition may take at least, s: much, for machines that are slow or busy."""
REFRESH_PERIOD = 0.2
"""Wall time between two tables, s."""


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
                child.process.wait(5.0)  # s of wall time after SIGINT
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


class Interrupted(Exception):
    """The user pressed Ctrl-C."""


class DemoRunner:
    """Spins the demo's node until conditions hold.

    A wait fails after both time-outs have passed, of wall time and of simulated time, so that a slow machine alone
    never makes it fail. It fails, too, where the simulated time stands still for the wall time-out.
    """

    def __init__(self, node: Node, processes: Processes, live: Live, interrupted: threading.Event) -> None:
        self.node, self.processes = node, processes
        self.table: Callable[[], RenderableType] = lambda: ""
        """Returns what is shown."""
        self.check: Callable[[], None] = lambda: None
        """Called every `REFRESH_PERIOD`; raises ProcessError where the demo cannot go on."""
        self.simulated_time: Callable[[], float] = lambda: inf
        """Returns the simulated time, s; infinite where wall time alone counts."""
        self._live, self._interrupted = live, interrupted
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(node)
        self._refreshed_at = -inf

    def wait_until(self, condition: Callable[[], bool], description: str, simulated: float = 10.0) -> None:
        """Spin until a condition holds.

        Args:
            condition: evaluated after every message.
            description: what was waited for, used in the error.
            simulated: simulated time that it may take, s.

        Raises:
            ProcessError: it took too long, or `check` raised the error.
            Interrupted: the user pressed Ctrl-C.
        """
        started = progressed_at = time.monotonic()
        begin = newest = self.simulated_time()
        while not condition():
            self._spin_once()
            now, t = time.monotonic(), self.simulated_time()
            if t != newest:
                newest, progressed_at = t, now
            stalled = now - progressed_at >= TIMEOUT
            if stalled or (now - started >= TIMEOUT and not t - begin < simulated):
                raise ProcessError("demo", f"no {description} within {now - started:.0f} s")

    def wait(self, seconds: float) -> None:
        """Spin for a wall time, s; errors as of `wait_until`."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._spin_once()

    def wait_for_message(self, kind: Any, topic: str) -> None:
        """Wait for a message on a topic; errors as of `wait_until`."""
        received: list[Any] = []
        subscription = self.node.create_subscription(kind, topic, received.append, qos_profile_sensor_data)
        self.wait_until(lambda: bool(received), topic)
        self.node.destroy_subscription(subscription)

    def call(self, kind: Any, service: str, **request: Any) -> Any:
        """Return the response of a service; errors as of `wait_until`."""
        client = self.node.create_client(kind, service)
        self.wait_until(client.service_is_ready, f"service {service}")
        future = client.call_async(kind.Request(**request))
        self.wait_until(future.done, f"response of {service}")
        self.node.destroy_client(client)
        return future.result()

    def call_checked(self, kind: Any, service: str, **request: Any) -> None:
        """Call a service that has to succeed; errors as of `wait_until`, and ProcessError where it does not."""
        response = self.call(kind, service, **request)
        if not response.success:
            raise ProcessError(service, response.message)

    def run_command(self, name: str, command: Sequence[str]) -> None:
        """Run a process to its end, however long a busy machine takes; errors as of `wait_until`, or where it fails."""
        self.processes.start(name, command, may_end=True)
        self.wait_until(lambda: self.processes.has_ended(name), f"end of {name}", simulated=inf)
        self.processes.check()

    def show(self) -> None:
        """Show the table as it is now."""
        self._live.update(self.table(), refresh=True)

    def _spin_once(self) -> None:
        if self._interrupted.is_set():
            self._interrupted.clear()  # the demo's `stop` is not interrupted by the same Ctrl-C
            raise Interrupted
        self._executor.spin_once(timeout_sec=REFRESH_PERIOD)
        now = time.monotonic()
        if now - self._refreshed_at >= REFRESH_PERIOD:
            self._refreshed_at = now
            self.processes.check()
            self.check()
            if self._live.console.is_terminal:
                self.show()
