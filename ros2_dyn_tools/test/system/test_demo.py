# SPDX-License-Identifier: Apache-2.0
"""The demos as a user runs them without a terminal: separate processes, real messages, one JSON line at the end.

The mode demos run in lockstep, so what they measure does not depend on the speed of the machine. Wall times here only
end what hangs.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from tiers import FULL

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from rclpy.utilities import get_rmw_implementation_identifier
from std_msgs.msg import String

from ros2_dyn.ros.node_base import LATCHED

JOINTS = ["shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3"]
whole = pytest.mark.skipif(not FULL, reason="takes up to a minute; FULL=1 plays it")
"""Demos whose figures other tests show in virtual time, and whose commands are tested by themselves."""
TIMEOUT = 600.0
"""Wall time after which a demo hangs, s."""


def start_demo(*arguments: str) -> "subprocess.Popen[str]":
    """Start a demo in a session of its own, so that its signals do not reach this one."""
    command = [sys.executable, "-m", "ros2_dyn_tools.demos.main", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def wait_for_children(demo: "subprocess.Popen[str]", count: int) -> list[int]:
    """Return the processes that a demo has started, once there are so many."""
    deadline = time.monotonic() + TIMEOUT
    found: list[int] = []
    while len(found) < count:
        assert demo.poll() is None, demo.communicate()[1]
        assert time.monotonic() < deadline, "the demo starts no processes"
        time.sleep(0.05)
        listed = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(demo.pid)], capture_output=True, text=True, check=False
        )
        found = [int(word) for word in listed.stdout.split()]
    return found


def run_mode(mode: str, duration: float, pace: float = 0.0) -> dict:
    """Return the report of a mode's demo, which has to succeed; pace 0 is as fast as the machine allows."""
    demo = start_demo("--mode", mode, "--duration", str(duration), "--pace", str(pace))
    out, err = demo.communicate(timeout=TIMEOUT)
    assert demo.returncode == 0, err + out
    report = json.loads(out.splitlines()[-1])
    assert report["mode"] == mode
    assert report["pace"] > 0
    assert max(map(len, out.splitlines()[:-1])) <= 80
    return report


def test_monitor_with_view_prints_the_address_of_its_page_ends_and_reports_equal_efforts():
    view = ["--view"] if find_spec("viser") else []
    demo = start_demo("--duration", "1", *view)
    out, err = demo.communicate(timeout=TIMEOUT)
    assert demo.returncode == 0, err
    assert ("page: http://127.0.0.1:" in out) == bool(view)
    report = json.loads(out.splitlines()[-1])
    assert report["joints"] == [f"{name}_joint" for name in JOINTS]
    assert report["messages"] > 0
    assert report["rate_hz"] > 0
    assert report["differing"] <= 0.02 * report["messages"]  # of which the desired acceleration was lost or late
    assert all(name in out for name in JOINTS)


@whole
def test_feed_forward_reduces_the_error_of_a_weak_controller_to_a_fifth():
    report = run_mode("feed_forward", 2)
    assert report["ratio"] <= 0.2
    assert 0.01 < report["rms_error_pd"] < 0.1


@pytest.mark.parametrize(("duration", "pace"), [(0.2, 0.1), (1.0, 5.0), (2.0, 0.0)] if FULL else [(0.2, 5.0)])
def test_force_presses_on_a_wall_within_2_percent_at_any_pace(duration, pace):
    report = run_mode("force", duration, pace)
    assert report["relative_error"] <= 0.02
    assert 0.03 < report["contact_speed"] < 0.3
    assert 20 < report["peak_force"] < 50  # N
    assert report["rebounds"] == 0
    assert not pace or report["pace"] <= 1.1 * pace


@whole
def test_impedance_feels_as_declared_along_a_soft_and_a_stiff_axis_and_returns():
    report = run_mode("impedance", 1)
    assert abs(report["soft_stiffness"] / 200 - 1) <= 0.05
    assert abs(report["stiff_stiffness"] / 3000 - 1) <= 0.05
    assert max(report["soft_returned_mm"], report["stiff_returned_mm"]) <= 2
    assert report["soft_way_mm"] > 4 * report["stiff_way_mm"]


@whole
def test_hand_guiding_needs_5_newtons_drifts_1_mm_at_most_and_keeps_joints_off_their_stops():
    report = run_mode("hand_guiding", 1)
    assert 1 < report["force_at_0.2_m_s"] <= 5
    assert report["drift_mm"] <= 1
    assert report["force_towards_the_stop"] > 40
    assert 0 < report["min_distance_to_a_stop"] < 0.2  # in the soft limit


@whole
def test_a_collision_stops_the_mode_within_40_ms_names_the_link_and_the_mode_is_entered_again():
    report = run_mode("collision", 3)
    assert report["false_alarms"] == 0
    assert report["link_named"] == report["link_pushed"]
    assert report["mode_after"] == "stopped"
    assert report["entered_again"]
    assert abs(report["residual"]) > report["threshold"]
    assert 0 < report["delay_ms"] < 40  # ten states, simulated


@whole
def test_identify_brings_the_error_of_the_efforts_down_to_the_noise_and_draws_it():
    report = run_mode("identify", 8)
    assert max(report["ratio"][:3]) <= 1 / 3  # the demo itself demands it, too
    assert max(report["rms_after"]) <= 1.5 * report["noise"]
    assert min(report["rms_before"][:3]) > 3  # N m
    assert report["states"] > 300  # of 4 s and 1 s of rest at 125 Hz; a busy node may miss some
    picture = Path(report["picture"])
    assert "shoulder_pan_joint" in picture.read_text(encoding="utf-8")
    assert (picture.parent / "identified.yaml").is_file()
    shutil.rmtree(picture.parent)


def test_demo_enters_its_mode_and_ctrl_c_ends_it_with_status_1_and_a_report(listener):
    mode = "hand_guiding"
    modes = listener.listen("dynamics/mode", type=String, qos=LATCHED)
    demo = start_demo("--mode", mode)
    listener.until(lambda: modes and modes[-1].data == mode, f"mode {mode} is not entered")
    demo.send_signal(signal.SIGINT)
    out, err = demo.communicate(timeout=TIMEOUT)
    assert demo.returncode == 1
    assert "interrupted before its end" in err
    assert json.loads(out.splitlines()[-1])["mode"] == mode


def test_ctrl_c_in_monitor_reports_and_leaves_no_process_behind():
    demo = start_demo()
    started = wait_for_children(demo, 2)
    demo.send_signal(signal.SIGINT)
    out, _ = demo.communicate(timeout=TIMEOUT)
    assert "messages" in json.loads(out.splitlines()[-1])
    for pid in started:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")
def test_no_process_here_opens_shared_memory(listener):
    if (
        not get_rmw_implementation_identifier().startswith("rmw_fastrtps")
        or "ROS_AUTOMATIC_DISCOVERY_RANGE" in os.environ
    ):
        pytest.skip("only for Fast DDS, and where the user has set no discovery range")
    opened = [os.path.realpath(file) for file in Path("/proc/self/fd").iterdir()]
    assert opened
    assert not [file for file in opened if "fastrtps" in file]
