"""What tests of nodes need: processes, and a node that publishes, listens and calls."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import rclpy
from rclpy.executors import SingleThreadedExecutor
from ros2_dyn.ros.last_will import SUFFIX
from sensor_msgs.msg import JointState

PATIENCE = 30.0
"""Seconds that discovery and start-up may take on a busy machine."""


class Process:
    """A node in a process of its own."""

    def __init__(self, module: str, *arguments: str) -> None:
        command = [sys.executable, "-m", module, "--ros-args", *arguments]
        self._printed = tempfile.TemporaryFile("w+")  # noqa: SIM115 (a pipe that nobody reads would block it in the end)
        self.process = subprocess.Popen(command, stdout=self._printed, stderr=subprocess.STDOUT, text=True)

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self.process.poll() is None

    def stop(self) -> str:
        """Interrupt it; what it printed."""
        self.process.send_signal(2)
        return self.ended(10)

    def ended(self, timeout: float = PATIENCE) -> str:
        """Wait for its end; what it printed."""
        try:
            self.process.wait(timeout)
        finally:
            self.kill()
        with self._printed as printed:
            printed.seek(0)
            return printed.read()

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.wait()


class Listener:
    """A node of the test's own, that publishes, listens and calls."""

    def __init__(self) -> None:
        rclpy.init()
        self.node = rclpy.create_node("listener")
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.received: dict[str, list] = {}

    def close(self) -> None:
        """Leave nothing behind."""
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown()

    def listen(self, *topics: str, type=JointState) -> None:
        """Keep every message of some topics."""
        for topic in topics:
            self.received[topic] = []
            self.node.create_subscription(type, topic, self.received[topic].append, 100)

    def publisher(self, type, topic: str, qos=10):
        """A publisher that somebody listens to."""
        publisher = self.node.create_publisher(type, topic, qos)
        self.until(lambda: publisher.get_subscription_count() > 0, f"nobody subscribed to {topic}")
        return publisher

    def spin(self, seconds: float) -> None:
        """Let messages come and go."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.executor.spin_once(timeout_sec=left)

    def knows_last_will(self, topic: str) -> bool:
        """Whether the process that speaks last on a topic for commands of the node `dynamics` has been found."""
        publishers = self.node.get_publishers_info_by_topic(topic)
        return any(info.node_name == "dynamics" + SUFFIX for info in publishers)

    def until(self, condition: Callable[[], bool], problem: str) -> None:
        """Spin until something is the case."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, problem
            self.executor.spin_once(timeout_sec=0.05)

    def call(self, type, name: str, **request):
        """Call a service and wait for its answer."""
        client = self.node.create_client(type, name)
        self.until(client.service_is_ready, f"no service {name}")
        future = client.call_async(type.Request(**request))
        self.until(future.done, f"no answer from {name}")
        return future.result()
