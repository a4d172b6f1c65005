# SPDX-License-Identifier: Apache-2.0
"""Says whether this Python can make the environment of scripts/ros2_env; called by it, with sourced or wheels.

Prints four lines: why it cannot, or none; the system's packages that are missing; what tells this Python from others;
the executable to use. Any Python back to 2 can read this file, so that it can be refused properly.
"""

import os
import platform
import sys
import sysconfig

sourced = sys.argv[1] == "sourced"
name = f"{sys.executable} ({platform.python_implementation()} {platform.python_version()})"
refusal, missing = "none", []
if platform.python_implementation() != "CPython" or not (3, 10) <= sys.version_info[:2] <= (3, 14):
    refusal = name + " is not supported; set PYTHON to a CPython 3.10 to 3.14"
else:
    from importlib.util import find_spec

    libc, version = platform.libc_ver() if sys.platform == "linux" else ("", "")
    wheels = libc == "glibc" and tuple(map(int, version.split("."))) >= (2, 28) and platform.machine() == "x86_64"
    if sourced and not find_spec("rclpy"):
        refusal = name + " finds no rclpy; set PYTHON to the python3 of the sourced distribution"
    elif not sourced and not wheels:
        refusal = "wheels of ROS 2 are for Linux on x86_64 with glibc 2.28 or later; source a distribution instead"
    if not find_spec("ensurepip") or not find_spec("venv"):
        missing.append("python3-venv")
    if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        missing.append("python3-dev")
    if sourced and not find_spec("colcon_core"):
        missing.append("python3-colcon-common-extensions")

print(refusal)
print(" ".join(missing))
# In a virtual environment, this is the Python that it was made with, which outlives it.
print("{} in {}".format(platform.python_version(), getattr(sys, "base_prefix", sys.prefix)))
base = getattr(sys, "_base_executable", None)
print(base if base and os.path.exists(base) else sys.executable)
