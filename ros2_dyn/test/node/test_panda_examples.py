# SPDX-License-Identifier: Apache-2.0
"""The scripts of `examples/panda`, with the real node and a simulated Panda: what docs/first_hour.md shows happens."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from robots import example_robots
from ros_harness import PATIENCE, words

PANDA = example_robots() / "panda_description/urdf/panda.urdf"
EXAMPLES = Path(__file__).parents[3] / "examples" / "panda"
pytestmark = [
    pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the package is tested outside of a checkout"),
    pytest.mark.skipif(not PANDA.is_file(), reason="example-robot-data is not installed"),
]


def files(name: str) -> list[str]:
    """Return the ROS arguments of a parameter file."""
    return ["--params-file", str(EXAMPLES / f"{name}.yaml")]


def run(name: str) -> str:
    """Run a script to its end; return what it prints."""
    command = [sys.executable, str(EXAMPLES / name)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_push_is_found_after_calibration_and_the_efforts_of_the_model_improve_tracking(start):
    """At twice the real pace, where the machine allows it."""
    arm = words(urdf_file=str(PANDA), publish_clock=True, pace=2.0, max_step=5e-3)
    start("ros2_dyn.ros.mock_arm_node", *files("mock_arm"), *arm)
    topic = "~/trajectory_with_effort:=/trajectory_controller/joint_trajectory"
    node = words(urdf_file=str(PANDA), use_sim_time=True, **{"collision.calibration_time": 3.0})
    start("ros2_dyn.ros.dynamics_node", *files("dynamics"), *node, "-r", topic)

    found = run("collision.py")
    assert 'joints: ["panda_joint1"' in found
    assert "collision: True" in found

    errors = dict(line.split(": RMS error ") for line in run("feed_forward.py").splitlines())
    alone, helped = (float(errors[name].split()[0]) for name in ("alone", "with efforts"))
    assert alone > 10  # mrad: the weight of the arm over the stiffness of the controller
    assert helped < alone / 5
