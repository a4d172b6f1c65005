"""The failsafe process: if the node that commands dies, it ramps the command to a safe effort.

A forward_command_controller holds the last command for ever, and a dead node cannot send another. So the node stores
with every command what it would command without further states, in memory that it shares with a process of its own.
That process sleeps until a pipe closes, as it does when the node ends for any reason, and then commands the ramp.
"""

from __future__ import annotations

import json
import mmap
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ros2_dyn.control.command_supervisor import RAMP_DOWN_PERIOD
from ros2_dyn.control.failsafe_ramp import FailsafeRamp, LastCommand
from ros2_dyn.errors import FailsafeError
from ros2_dyn.runtime.update import FailsafeConfig

NODE_SUFFIX = "_failsafe"
"""What is added to the node's name."""
DISCOVERY_TIMEOUT = 10.0
"""Time for which the process waits for a subscriber, s."""
DISCOVERY_TIMEOUT_ALL = 4.0
"""Time for which it waits for all subscribers, s: more than the 3 s between two announcements of Fast DDS."""
ACK_TIMEOUT = 1.0
"""Time for which it waits until its last command has arrived, s."""
DISARM = b"disarm"
"""What the process reads that is to end without a command."""


class FailsafeTask(NamedTuple):
    """What the process is started with."""

    node: str
    namespace: str
    topic: str
    config: FailsafeConfig


class SharedCommandBuffer:
    """The newest command in shared memory. A reader always finds a whole one."""

    def __init__(self, fd: int, n: int) -> None:
        self._size, self._n = 8 * (1 + 2 * n), n
        os.ftruncate(fd, 1 + 2 * self._size)
        self._memory = mmap.mmap(fd, 1 + 2 * self._size)
        self._turn = 0

    def update(self, last: LastCommand) -> None:
        """Store a command."""
        self._turn = 1 + self._turn % 2
        start = 1 + (self._turn - 1) * self._size
        numbers = np.concatenate([[last.state_at], last.effort, last.hold])
        self._memory[start : start + self._size] = numbers.tobytes()
        self._memory[0] = self._turn  # last, so that no reader finds a half that is being written

    def clear(self) -> None:
        """Store that nothing is commanded."""
        self._memory[0] = 0

    def read(self) -> LastCommand | None:
        """Return the newest command, or None where nothing is commanded."""
        if (turn := self._memory[0]) == 0:
            return None
        start = 1 + (turn - 1) * self._size
        numbers = np.frombuffer(self._memory[start : start + self._size])
        return LastCommand(float(numbers[0]), numbers[1 : 1 + self._n], numbers[1 + self._n :])


class FailsafeProcess:
    """The node's side of the process."""

    def __init__(self) -> None:
        self._task: FailsafeTask | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer: SharedCommandBuffer | None = None

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def arm(self, task: FailsafeTask, subscribers: int) -> None:
        """Start the process for a task, unless it runs already, and wait until it has found the subscribers.

        Args:
            task: what it is to do.
            subscribers: number of subscribers that the node itself has.

        Raises:
            FailsafeError: it did not start, or found no subscriber.
        """
        if self.alive and task == self._task:
            return
        self.disarm()
        n = len(task.config.slew_rate)
        with tempfile.TemporaryFile() as shared:
            buffer = SharedCommandBuffer(shared.fileno(), n)
            arguments = str(shared.fileno()), str(subscribers), json.dumps(task)
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ros2_dyn.ros.failsafe", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=(shared.fileno(),),
                start_new_session=True,  # a signal to the node's group must not end it
            )
        self._task, self._buffer = task, buffer
        assert self._process.stdout is not None
        answer = self._process.stdout.readline().decode().strip()
        if answer != "ready":
            self.disarm()
            raise FailsafeError(answer or "it ended at once")

    def update(self, last: LastCommand) -> None:
        """Store the command that is about to be published."""
        if self._buffer is not None:
            self._buffer.update(last)

    def clear(self) -> None:
        """Store that nothing is commanded."""
        if self._buffer is not None:
            self._buffer.clear()

    def trigger(self) -> None:
        """Let the process take over: the node is about to end."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    def disarm(self) -> None:
        """End the process without a command."""
        if self._process is not None:
            with suppress(BrokenPipeError):  # where it has ended
                self._process.communicate(DISARM)
        self._process = None


def main() -> int:
    """Wait for the node's end, and take over."""
    from rclpy import create_node, init, shutdown  # not what the node's side needs
    from rclpy.duration import Duration
    from rclpy.signals import SignalHandlerOptions
    from std_msgs.msg import Float64MultiArray

    fd, subscribers = int(sys.argv[1]), int(sys.argv[2])
    name, namespace, topic, config = json.loads(sys.argv[3])
    task = FailsafeTask(name, namespace, topic, FailsafeConfig(*config))
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # where the middleware prints its errors
    buffer = SharedCommandBuffer(fd, len(task.config.slew_rate))
    init(signal_handler_options=SignalHandlerOptions.NO)
    node = create_node(
        task.node + NODE_SUFFIX, namespace=task.namespace, enable_rosout=False, start_parameter_services=False
    )
    publisher = node.create_publisher(Float64MultiArray, task.topic, 1)
    started = time.monotonic()

    def discovers() -> bool:
        """Return whether to go on waiting: for all subscribers first, later for one.

        The middleware may still count subscribers that were killed.
        """
        passed, found = time.monotonic() - started, publisher.get_subscription_count()
        return found < max(subscribers, 1) and passed < (DISCOVERY_TIMEOUT_ALL if found else DISCOVERY_TIMEOUT)

    while discovers():
        time.sleep(RAMP_DOWN_PERIOD)
    found = publisher.get_subscription_count() > 0
    print("ready" if found else f"it found no subscriber on {task.topic}", file=answer, flush=True)
    disarmed = sys.stdin.read()  # ends when the node does
    last = buffer.read()
    if last is not None and not disarmed:
        order = list(task.config.order)
        _run_fallback(last, task.config, lambda x: publisher.publish(Float64MultiArray(data=x[order].tolist())))
        publisher.wait_for_all_acked(Duration(seconds=ACK_TIMEOUT))  # for ever, if the controller has died, too
    node.destroy_node()
    shutdown()
    return 0


def _run_fallback(last: LastCommand, config: FailsafeConfig, send: Any) -> None:
    """Command the ramp, from the newest command of the node on."""
    effort_limit, slew_rate = np.array(config.effort_limit), np.array(config.slew_rate)
    ramp = FailsafeRamp(effort_limit, slew_rate, config.stop_behaviour, last, time.monotonic())
    if ramp.first is not None:
        send(ramp.first)
    while not ramp.ended:
        effort = ramp.step(time.monotonic())
        if effort is not None:
            send(effort)
        time.sleep(RAMP_DOWN_PERIOD)


if __name__ == "__main__":
    sys.exit(main())
