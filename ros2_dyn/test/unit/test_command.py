# SPDX-License-Identifier: Apache-2.0
"""The command `ros2_dyn` as a process of its own."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os, sys
from ros2_dyn.cli.main import main
sys.argv = ["ros2_dyn", "{}", "--help"]
try:
    main()
except SystemExit:
    print(os.environ.get("OPENBLAS_NUM_THREADS", "as it likes"))
"""


@pytest.mark.parametrize(
    ("command", "chosen", "used"),
    [("anything", {}, "1"), ("anything", {"OPENBLAS_NUM_THREADS": "2"}, "2"), ("parameters", {}, "as it likes")],
)
def test_linear_algebra_has_one_thread_unless_the_user_chooses_and_our_commands_start_once(command, chosen, used):
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    script = [sys.executable, "-c", SCRIPT.format(command)]
    done = subprocess.run(script, env=environment | chosen, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == used
