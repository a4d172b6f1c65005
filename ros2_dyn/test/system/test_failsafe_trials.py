# SPDX-License-Identifier: Apache-2.0
"""Processes that fail while the mock arm moves in real time: `bench/failsafe` plays them, and measures the arm."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ros2_dyn.control.modes import MODES
from tiers import FULL

pytest.importorskip("rclpy", reason="ROS 2 is not here")

TRIALS, SUPPORT = Path(__file__).parents[3] / "bench" / "failsafe", Path(__file__).parents[1] / "support"


@pytest.mark.skipif(not FULL, reason="takes ten seconds each; FULL=1 plays them")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fault", ["killed", "stopped", "terminated", "starved"])
def test_arm_rests_after_its_node_is_gone(mode, fault):
    """Once of each kind."""
    command = [sys.executable, str(TRIALS), "--trials", "1", "--modes", mode, "--faults", fault]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(SUPPORT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    (trial,) = json.loads(done.stdout[done.stdout.index("{") :]).values()
    assert trial["speed_after"] < 0.05  # rad/s
    assert trial["travel"] < 0.3  # rad
