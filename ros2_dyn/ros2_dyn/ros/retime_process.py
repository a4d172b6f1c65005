# SPDX-License-Identifier: Apache-2.0
"""The service `~/retime_trajectory`, in a process of its own.

A request of a thousand points takes some 30 ms to be read by rclpy, its answer as long to be written, and the timing
between them takes a second of the processor. A node that commands has not got that. So another process offers the
service under the node's name, and all that the node does for it is to tell what it depends on.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from ros2_dyn_interfaces.srv import RetimeTrajectory

from ros2_dyn.ros.retime_service import RetimeTask, fill_timing
from ros2_dyn.ros.services import respond

SUFFIX = "_retiming"
"""What the name of the process's node has behind that of the node."""
END_TIMEOUT = 5.0
"""Time that it may take to end, s: a timing is computed to its end."""
NICENESS = 5
"""The process's: timings take the processor from nobody who commands."""


class Offer(NamedTuple):
    """Under which names the process offers the service."""

    node: str
    namespace: str
    service: str
    """The service's name in full."""


class RetimeProcess:
    """The node's side: the process is started when it is wanted first, in a thread that waits for it."""

    def __init__(self, node: Node, service: str) -> None:
        """Make it.

        Args:
            node: the node under whose name the service is offered.
            service: its name, which may begin with ``~/``.
        """
        self._offer = Offer(node.get_name(), node.get_namespace(), node.resolve_service_name(service))
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="retiming")
        self._process: subprocess.Popen[bytes] | None = None
        self._task: RetimeTask | None = None

    def use(self, task: RetimeTask | None) -> None:
        """Offer the service with what timings depend on now; None: do not offer it. To be called now and then."""
        ended = self._process is not None and self._process.poll() is not None
        if task != self._task or (task is not None and ended):
            self._task = task
            self._thread.submit(self._tell, task)

    def close(self) -> None:
        """Let the process end; it ends with this one in any case."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def _tell(self, task: RetimeTask | None) -> None:
        if task is None:
            self._end()
            return
        process = self._process
        with suppress(OSError):  # it has ended: the next call starts another one
            if process is None or process.poll() is not None:
                command = [sys.executable, "-m", "ros2_dyn.ros.retime_process"]
                process = self._process = subprocess.Popen(command, stdin=subprocess.PIPE)
                assert process.stdin is not None
                pickle.dump(self._offer, process.stdin)
            assert process.stdin is not None
            pickle.dump(task, process.stdin)
            process.stdin.flush()

    def _end(self) -> None:
        """End it in order: what is killed is seen by others for a while."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.close()
        try:
            process.wait(END_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class RetimeNode(Node):
    """Offers the service."""

    def __init__(self, offer: Offer, task: RetimeTask) -> None:
        super().__init__(
            offer.node + SUFFIX,
            namespace=offer.namespace,
            enable_rosout=False,
            start_parameter_services=False,
            use_global_arguments=False,
        )
        self._task = task
        self.create_service(RetimeTrajectory, offer.service, self._answer)

    def follow(self) -> None:
        """Take what the node tells until that ends; then end, too."""
        with suppress(EOFError):
            while True:
                self._task = pickle.load(sys.stdin.buffer)
        self.context.try_shutdown()

    def _answer(
        self, request: RetimeTrajectory.Request, response: RetimeTrajectory.Response
    ) -> RetimeTrajectory.Response:
        return respond(self, response, lambda: fill_timing(request, response, self._task))


def main() -> int:
    """Serve until the node ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the node, whose end ends this
    os.nice(NICENESS)
    offer: Offer = pickle.load(sys.stdin.buffer)
    task: RetimeTask = pickle.load(sys.stdin.buffer)
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = RetimeNode(offer, task)
    threading.Thread(target=node.follow, daemon=True).start()
    with suppress(ExternalShutdownException):
        rclpy.spin(node)
    node.destroy_node()
    rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
