"""The last will of a node that commands: if it dies, another process passes to the effort that carries the arm.

A forward_command_controller holds the last command for ever, and a node that was killed cannot say another. So the node
notes with every command what it would do if no state came any more, in memory that it shares with a process of its own
making; that process sleeps until the node's end closes a pipe, and then does it: `EffortGuard.ease`.
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

from ros2_dyn.control.effort_guard import EASE_PERIOD, EffortGuard, GuardPolicy, Limits
from ros2_dyn.model.spatial import Array

SUFFIX = "_last_will"
"""Of the process's node name."""
PATIENCE = 10.0
"""For which the process may look for anybody who listens, s."""
PATIENCE_FOR_ALL = 4.0
"""For which it may look for all who do, s: more than the 3 s between two announcements of Fast DDS."""
DISMISSED = b"no longer needed"
"""What a process reads that is to end without having done anything."""
LINGER = 1.0
"""For which the process waits until its last command has come, s."""


class Duty(NamedTuple):
    """What the process has to know beforehand."""

    node: str
    namespace: str
    topic: str
    order: list[int]
    """Of the controller's joints among the robot's."""
    slew: list[float]
    """N m/s or N/s, of each of the robot's joints."""
    state_timeout: float
    stop_behaviour: str


class Notes:
    """Numbers in shared memory: a time, s, and two efforts, of which a reader finds the newest whole set."""

    def __init__(self, fd: int, n: int) -> None:
        self._size, self._n = 8 * (1 + 2 * n), n
        os.ftruncate(fd, 1 + 2 * self._size)
        self._memory = mmap.mmap(fd, 1 + 2 * self._size)
        self._turn = 0

    def write(self, state_at: float, last: Array, held: Array) -> None:
        """Note it."""
        self._turn = 1 + self._turn % 2
        start = 1 + (self._turn - 1) * self._size
        self._memory[start : start + self._size] = np.concatenate([[state_at], last, held]).tobytes()
        self._memory[0] = self._turn  # last, so that nobody reads a set that is being written

    def clear(self) -> None:
        """Nothing is to be done."""
        self._memory[0] = 0

    def read(self) -> tuple[float, Array, Array] | None:
        """What was noted last; None: nothing."""
        if (turn := self._memory[0]) == 0:
            return None
        start = 1 + (turn - 1) * self._size
        numbers = np.frombuffer(self._memory[start : start + self._size])
        return float(numbers[0]), numbers[1 : 1 + self._n], numbers[1 + self._n :]


class LastWill:
    """The node's side."""

    def __init__(self) -> None:
        self._duty: Duty | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._notes: Notes | None = None

    @property
    def alive(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def bound_to(self, duty: Duty) -> bool:
        """Whether the process would do this."""
        return self.alive and duty == self._duty

    def entrust(self, duty: Duty, listeners: int) -> str:
        """Have a process for a duty, and wait until it has found who listens; what went wrong, if anything did.

        Args:
            duty: what it is to do.
            listeners: how many subscriptions hear the node itself.
        """
        if self.bound_to(duty):
            return ""
        self.release()
        with tempfile.TemporaryFile() as shared:
            notes = Notes(shared.fileno(), len(duty.slew))
            words = str(shared.fileno()), str(listeners), json.dumps(duty)
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ros2_dyn.ros.last_will", *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=(shared.fileno(),),
                start_new_session=True,  # what ends the node is not to end it, too
            )
        self._duty, self._notes = duty, notes
        assert self._process.stdout is not None
        answer = self._process.stdout.readline().decode().strip()
        if answer != "ready":
            self.release()
        return "" if answer == "ready" else answer or "it ended at once"

    def note(self, guard: EffortGuard, held: Array) -> None:
        """Note what is to be done if nothing more is heard."""
        if self._notes is not None and guard.last is not None:
            self._notes.write(guard.state_at, guard.last, held)

    def clear(self) -> None:
        """Nothing is to be done, until the next note."""
        if self._notes is not None:
            self._notes.clear()

    def hand_over(self) -> None:
        """This process is about to end: do it now."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    def release(self) -> None:
        """End the process, without any last command, whatever is noted."""
        if self._process is not None:
            with suppress(BrokenPipeError):  # where it has ended
                self._process.communicate(DISMISSED)
        self._process = None


def main() -> int:
    """The other side: a process that waits for the node's end."""
    from rclpy import create_node, init, shutdown  # not what the node's side needs
    from rclpy.duration import Duration
    from rclpy.signals import SignalHandlerOptions
    from std_msgs.msg import Float64MultiArray

    fd, listeners, duty = int(sys.argv[1]), int(sys.argv[2]), Duty(*json.loads(sys.argv[3]))
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # where the middleware prints its errors
    notes = Notes(fd, len(duty.slew))
    init(signal_handler_options=SignalHandlerOptions.NO)
    node = create_node(
        duty.node + SUFFIX, namespace=duty.namespace, enable_rosout=False, start_parameter_services=False
    )
    out = node.create_publisher(Float64MultiArray, duty.topic, 1)
    begun = time.monotonic()

    def waits() -> bool:
        """Whether to look on: for all; later for anybody, since some may have died and be missed by nobody yet."""
        passed, found = time.monotonic() - begun, out.get_subscription_count()
        return found < max(listeners, 1) and passed < (PATIENCE_FOR_ALL if found else PATIENCE)

    while waits():
        time.sleep(EASE_PERIOD)
    print("ready" if out.get_subscription_count() > 0 else f"it found nobody on {duty.topic}", file=answer, flush=True)
    dismissed = sys.stdin.read()  # ends when the node does
    noted = notes.read()
    if noted is not None and not dismissed:
        _fulfil(noted, duty, lambda effort: out.publish(Float64MultiArray(data=effort[duty.order].tolist())))
        out.wait_for_all_acked(Duration(seconds=LINGER))  # for ever, if the controller has died, too
    node.destroy_node()
    shutdown()
    return 0


def _fulfil(noted: tuple[float, Array, Array], duty: Duty, send: Any) -> None:
    """Do what the guard would have done had no further state come.

    The newest command may have been noted and not sent, so it is sent again: from there on there are no steps.
    """
    state_at, last, held = noted
    slew = np.array(duty.slew)
    limits = Limits(("",) * len(slew), np.full(len(slew), np.inf), slew, np.full(len(slew), np.inf))
    behaviour: Any = duty.stop_behaviour
    guard = EffortGuard(limits, GuardPolicy(state_timeout=duty.state_timeout, stop_behaviour=behaviour))
    now = time.monotonic()
    if not guard.fresh(now - state_at):
        return
    send(last)
    guard.go_on_from(last, now, state_at)
    while guard.commands:
        effort = guard.ease(held, time.monotonic())
        if effort is not None:
            send(effort)
        time.sleep(EASE_PERIOD)


if __name__ == "__main__":
    sys.exit(main())
