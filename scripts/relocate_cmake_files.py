# SPDX-License-Identifier: Apache-2.0
"""Makes the CMake files of the wheels fit this machine; called by scripts/ros2_env, with the folder that holds them.

They name the include folders of Python and NumPy on the machine that they were built on, and CMake refuses folders that
do not exist.
"""

import re
import sys
import sysconfig
from pathlib import Path

import numpy

FOLDERS = {
    r"/opt/python/[^;\"\s]*/numpy/\w+/include": numpy.get_include(),
    r"/opt/python/[^;\"\s]*/include/python[\d.]+": sysconfig.get_path("include"),
}

for path in Path(sys.argv[1]).rglob("*.cmake"):
    text = there = path.read_text(encoding="utf-8")
    for pattern, here in FOLDERS.items():
        text = re.sub(pattern, lambda _: here, text)  # noqa: B023 (a function, so that a backslash is no escape)
    if text != there:
        path.write_text(text, encoding="utf-8")
