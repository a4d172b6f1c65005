# SPDX-License-Identifier: Apache-2.0
"""The node's side of the failsafe process, the second commander of the arm.

A forward_command_controller holds the last command for ever, and a node that is dead, stopped or held up cannot send
another. So a process of its own waits beside the node with a runtime of its own: `failsafe_node.py` is that process,
and `runtime/failsafe_runtime.py` decides for it. Each watches the other's heartbeat in memory that they share. The
process replaces the node; the node stops its mode where the process is lost, and never replaces it.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from contextlib import suppress
from typing import NamedTuple

from ros2_dyn.errors import FailsafeError
from ros2_dyn.model.plain import to_plain
from ros2_dyn.ros.shared_command import SharedCommand
from ros2_dyn.runtime.update import FailsafeConfig, LastCommand

ARM_TIMEOUT = 30.0
"""Time for which the node waits until the process is ready, s."""
READY = "ready"
"""What the process answers, with the identifier of its publisher."""
DISARM = b"disarm"
"""What the process reads that is to end without a command."""
IN_ORDER = b"in order"
"""What it reads from a node that ends in order: it ends, too, when the arm rests."""


class FailsafeTask(NamedTuple):
    """What the process is started with."""

    node: str
    namespace: str
    topic: str
    states_topic: str
    use_sim_time: bool
    config: FailsafeConfig


class ArmedProcess(NamedTuple):
    """A process that is ready."""

    task: FailsafeTask
    process: subprocess.Popen[bytes]
    memory: SharedCommand
    gid: bytes
    """Identifier of its publisher."""

    @property
    def runs(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def say(self, word: bytes) -> None:
        """Tell it that the node has no more to do with it, and how it is to end."""
        assert self.process.stdin is not None
        with suppress(OSError, ValueError):  # where it has ended, or was told before
            self.process.stdin.write(word)
            self.process.stdin.close()


class FailsafeProcess:
    """The process that was armed last."""

    def __init__(self) -> None:
        self._armed: ArmedProcess | None = None
        self._seen = (0, 0.0)

    @property
    def runs(self) -> bool:
        """Whether the process has not ended."""
        return self._armed is not None and self._armed.runs

    @property
    def alive(self) -> bool:
        """Whether the process runs, and has a heartbeat."""
        armed = self._armed
        if armed is None or not armed.runs:
            return False
        beats, now = armed.memory.failsafe_beats, time.monotonic()
        if beats != self._seen[0]:
            self._seen = beats, now
        return now - self._seen[1] < 2.0  # s; longer than the node's, for it commands nothing

    @property
    def commands(self) -> bool:
        """Whether the process has taken over, so that the node must be silent, also where it has ended since."""
        return self._armed is not None and self._armed.memory.taken

    @property
    def gid(self) -> bytes:
        """Identifier of its publisher; empty without a process."""
        return b"" if self._armed is None else self._armed.gid

    def arm(self, task: FailsafeTask, subscribers: int) -> None:
        """Start a process for a task, unless one runs already; it takes the place of one with another task.

        One that commands is not replaced: the node would not know any more that it must be silent.

        Args:
            task: what it is to do.
            subscribers: number of subscribers that the node itself has.

        Raises:
            FailsafeError: it did not start, or found no subscriber, or the one before has taken over meanwhile.
        """
        before = self._armed
        if before is not None and self.alive and not self.commands and task == before.task:
            return
        armed = start_process(task, subscribers)
        if before is not None and before.runs and before.memory.taken:
            end_process(armed)
            raise FailsafeError("the one before has taken over meanwhile")
        self._seen = 0, time.monotonic()
        self._armed = armed
        if before is not None:
            end_process(before)

    def update(self, last: LastCommand) -> None:
        """Store the command that is about to be published."""
        if self._armed is not None:
            self._armed.memory.update(last)
            self._armed.memory.beat()

    def beat(self) -> None:
        """Show that the node works."""
        if self._armed is not None:
            self._armed.memory.beat()

    def clear(self) -> None:
        """Store that nothing is commanded."""
        if self._armed is not None:
            self._armed.memory.clear()

    def trigger(self) -> None:
        """Let the process take over until the arm rests: the node is about to end."""
        if self._armed is not None:
            self._armed.say(IN_ORDER)

    def disarm(self) -> None:
        """End the process without a command, unless it has taken over."""
        armed, self._armed = self._armed, None
        if armed is not None:
            end_process(armed)


def start_process(task: FailsafeTask, subscribers: int) -> ArmedProcess:
    """Start a process, and wait until it is ready.

    Raises:
        FailsafeError: it is not ready in time.
    """
    n = len(task.config.settings.apply(task.config.description).joint_names)
    fd = os.memfd_create("ros2_dyn_command")  # no file: on a disk that is full, the first write would kill the node
    try:
        memory = SharedCommand(fd, n)
        process = subprocess.Popen(
            [sys.executable, "-m", "ros2_dyn.ros.failsafe_node", str(fd), str(subscribers)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(fd,),
            start_new_session=True,  # a signal to the node's group must not end it
        )
    finally:
        os.close(fd)
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError):  # it has ended, which is seen below
        process.stdin.write(json.dumps(to_plain(task), allow_nan=False).encode() + b"\n")
        process.stdin.flush()
    in_time = select.select([process.stdout], [], [], ARM_TIMEOUT)[0]
    answer = process.stdout.readline().decode().split() if in_time else []
    process.stdout.close()
    if answer[:1] != [READY]:
        process.kill()
        process.wait()
        with suppress(BrokenPipeError):
            process.stdin.close()
        problem = "it ended at once" if in_time else f"it was not ready within {ARM_TIMEOUT:g} s"
        raise FailsafeError(" ".join(answer) or problem)
    return ArmedProcess(task, process, memory, bytes.fromhex(answer[1]))


def end_process(armed: ArmedProcess) -> None:
    """End a process without a command; one that has taken over goes on until the arm rests."""
    armed.say(IN_ORDER if armed.memory.taken else DISARM)
    if armed.memory.taken:
        return
    try:
        armed.process.wait(2.0)
    except subprocess.TimeoutExpired:
        armed.process.kill()
        armed.process.wait()
