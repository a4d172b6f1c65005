"""The demo, as a user runs it without a terminal: separate processes, real messages, one JSON line at the end."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not here")

JOINTS = ["shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3"]


def start_demo(*arguments: str) -> "subprocess.Popen[str]":
    """In a session of its own, so that nothing of this one is hit by its signals."""
    command = [sys.executable, "-m", "ros2_dyn.cli.demo", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def children(pid: int) -> list[int]:
    """Processes that a process has started and that are still there."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in found.stdout.split()]


def test_it_measures_ends_by_itself_and_reports():
    """Predicted and simulated efforts are the same to 1e-6 N m."""
    demo = start_demo("--duration", "3")
    out, err = demo.communicate(timeout=60)
    assert demo.returncode == 0, err
    report = json.loads(out.splitlines()[-1])
    assert report["joints"] == [f"{name}_joint" for name in JOINTS]
    assert report["messages"] > 100  # of 750, on a machine that may be busy with other things
    assert report["rate_hz"] > 0
    assert report["max_abs_difference"] < 1e-6
    assert all(name in out for name in JOINTS)


def test_ctrl_c_ends_all_that_it_started():
    """Interrupted, it still reports, and leaves no process behind."""
    demo = start_demo()
    deadline = time.monotonic() + 30
    while len(children(demo.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    started = children(demo.pid)
    assert len(started) == 2
    demo.send_signal(signal.SIGINT)
    out, _ = demo.communicate(timeout=30)
    assert "messages" in json.loads(out.splitlines()[-1])
    for pid in started:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
