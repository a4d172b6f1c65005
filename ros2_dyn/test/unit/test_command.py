# SPDX-License-Identifier: Apache-2.0
"""The command `ros2_dyn` as a process of its own."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os, sys
from ros2_dyn.cli.main import main
sys.argv = ["ros2_dyn", "parameters", "--page"]
main()
print(os.environ["OPENBLAS_NUM_THREADS"])
"""


@pytest.mark.parametrize(("chosen", "used"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2")])
def test_linear_algebra_has_one_thread_unless_the_user_chooses(chosen, used):
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment | chosen, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == used
