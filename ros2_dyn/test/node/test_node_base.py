# SPDX-License-Identifier: Apache-2.0
"""The end of a node."""

import signal
import subprocess
import sys
import time

import pytest

from robots import MOCK_ARM

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from ros2_dyn.ros.node_base import TIME_TO_END
from ros_harness import PATIENCE, Process, words

BUSY = """
import sys, time
from rclpy.node import Node
from ros2_dyn.ros.node_base import run_node

class Busy(Node):
    def __init__(self):
        super().__init__("busy")
        self.create_timer(0.01, self.work)

    def work(self):
        print("begun", flush=True)
        deadline = time.monotonic() + float(sys.argv[1])
        while time.monotonic() < deadline:
            pass
        print("done", flush=True)

sys.exit(run_node(Busy))
"""


@pytest.mark.parametrize(("work", "interrupts", "printed"), [(1.0, 1, "done\n"), (1.0, 2, "done\n"), (1000.0, 2, "")])
def test_an_interrupt_lets_a_callback_come_to_its_end_and_a_late_further_one_does_not(work, interrupts, printed):
    """And neither is an error."""
    with subprocess.Popen([sys.executable, "-c", BUSY, str(work)], stdout=-1, stderr=-2, text=True) as node:
        assert node.stdout is not None
        assert node.stdout.readline() == "begun\n"
        for _ in range(interrupts):
            node.send_signal(signal.SIGINT)
            time.sleep(0.1 if printed else 1.1 * TIME_TO_END)
        assert (node.communicate(timeout=30)[0], node.returncode) == (printed, 0)


def test_interrupts_without_end_are_no_error():
    """However many come while the node ends."""
    process = Process("ros2_dyn.ros.dynamics_node", *words(urdf_file=str(MOCK_ARM)))
    deadline = time.monotonic() + PATIENCE
    while "using 'mock_arm'" not in process.printed:
        assert time.monotonic() < deadline, "the node does not start"
        time.sleep(0.01)
    while process.alive:
        process.process.send_signal(signal.SIGINT)
        time.sleep(0.002)
    assert "Traceback" not in process.ended()
    assert process.process.returncode == 0
