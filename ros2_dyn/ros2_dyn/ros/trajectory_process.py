# SPDX-License-Identifier: Apache-2.0
"""Efforts along trajectories, in a process of their own.

A message of 10 000 points takes a third of a second to be read, and the interpreter is held meanwhile. The node passes
its bytes on and publishes the bytes that come back, so that commands never wait for trajectories.
"""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from ros2_dyn.errors import MessageError, ProcessError
from ros2_dyn.runtime.trajectory_effort import TrajectoryTask

MAX_BYTES = 4_000_000
"""Longest message, bytes: 20 000 points of six joints with velocities and accelerations. Copying it takes 1 ms."""


class TrajectoryProcess:
    """The process, started when it is needed first, with a thread that waits for it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="trajectories")
        self._waiting = 0
        self._prepared: tuple[Any, ...] = ()

    def prepare(self, task: TrajectoryTask) -> None:
        """Have the kernel compiled, unless that was asked for before."""
        if self._prepared != (task.model, task.link):
            self._prepared = task.model, task.link
            self._thread.submit(self._ask, b"", task)

    def compute(self, raw: bytes, task: TrajectoryTask) -> Future[bytes]:
        """Return the serialised trajectory with its efforts; the future's error is a Ros2DynError.

        Args:
            raw: serialised trajectory.
            task: what its efforts depend on.

        Raises:
            MessageError: it is too long, or too many wait.
        """
        if len(raw) > MAX_BYTES:
            text = f"{len(raw)} bytes, {MAX_BYTES} are allowed: send it in parts"
            raise MessageError("points", "too many", text)
        if self._waiting >= 10:
            raise MessageError("points", "too many", f"{self._waiting} trajectories wait already")
        self._waiting += 1
        future = self._thread.submit(self._ask, raw, task)
        future.add_done_callback(self._count)
        return future

    def close(self) -> None:
        """End the process; it ends with this one in any case."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _count(self, _: Future[bytes]) -> None:
        self._waiting -= 1

    def _ask(self, raw: bytes, task: TrajectoryTask) -> bytes:
        process = self._process
        if process is None or process.poll() is not None:
            command = [sys.executable, "-m", "ros2_dyn.ros.trajectory_process"]
            process = self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump((raw, task), process.stdin)
            process.stdin.flush()
            answer, problem = pickle.load(process.stdout)
        except (OSError, EOFError) as error:
            raise ProcessError("trajectories", f"the process has ended: {error}") from error
        if problem:
            raise MessageError(*problem)
        assert isinstance(answer, bytes)
        return answer


def answer_request(raw: bytes, task: TrajectoryTask) -> tuple[bytes, tuple[str, ...]]:
    """Return the serialised trajectory with its efforts, or the fields of a MessageError.

    Args:
        raw: serialised trajectory; empty: only the kernel is compiled.
        task: what its efforts depend on.
    """
    from rclpy.serialization import deserialize_message, serialize_message  # not what the node's side needs
    from trajectory_msgs.msg import JointTrajectory

    from ros2_dyn.ros.messages import trajectory_sample

    if not raw:
        task.prepare()
        return b"", ()
    message = deserialize_message(raw, JointTrajectory)
    try:
        efforts = task.effort(trajectory_sample(message))
    except MessageError as error:
        return b"", (error.field, error.reason, error.detail)
    for point, row in zip(message.points, efforts):
        point.effort = row.tolist()
    return serialize_message(message), ()


def main() -> int:
    """Answer requests until the node ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the node, whose end ends this
    with suppress(EOFError):
        while True:
            answer = answer_request(*pickle.load(sys.stdin.buffer))
            pickle.dump(answer, sys.stdout.buffer)
            sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
