# SPDX-License-Identifier: Apache-2.0
"""The launch files, run by the real launch system: each file of launch_tests is a test of launch_testing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("launch_testing", reason="launch_testing is not installed (it comes with ROS 2)")
pytest.importorskip("launch_ros", reason="launch_ros is not installed (it comes with ROS 2)")

TESTS = Path(__file__).parents[1]
PATIENCE = 600.0
"""Wall time, s, that one file may take on a busy machine."""


@pytest.mark.parametrize("name", sorted(file.stem for file in (TESTS / "launch_tests").glob("*.py")))
def test_launch_files(name):
    """In a process of its own, as the launch system wants it."""
    path = os.pathsep.join([str(TESTS / "support"), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "launch_testing.launch_test", str(TESTS / "launch_tests" / f"{name}.py")]
    result = subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    print(result.stdout)
    assert result.returncode == 0
