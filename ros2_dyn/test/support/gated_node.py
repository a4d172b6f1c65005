# SPDX-License-Identifier: Apache-2.0
"""The node `dynamics`, which compiles kernels only while the file that the variable GATE names exists."""

import os
import sys
import time
from pathlib import Path
from typing import Any

from ros2_dyn.ros.dynamics_node import main
from ros2_dyn.runtime import robot_dynamics

compile_kernels = robot_dynamics.robot_kernels


def wait_and_compile(*arguments: Any) -> Any:
    """Compile the kernels of a robot, when it is allowed."""
    print("compiling", flush=True)
    while not Path(os.environ["GATE"]).exists():
        time.sleep(0.01)
    return compile_kernels(*arguments)


robot_dynamics.robot_kernels = wait_and_compile

if __name__ == "__main__":
    sys.exit(main())
