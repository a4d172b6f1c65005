# SPDX-License-Identifier: Apache-2.0
"""Keeps the tests to themselves: no traffic beyond this machine, and a ROS domain of their own; and quick."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

# pytest has an option for it, but not yet in Humble.
sys.path.insert(0, str(Path(__file__).parent / "support"))

from ros2_dyn.kernels.cache import cache_folder
from ros_domains import random_domain

with suppress(ImportError, LookupError):  # without ROS 2, or a build of ours, there is nobody to be heard
    from ros2_dyn.demos.processes import use_localhost_only

    use_localhost_only()  # before any node or process is made
# Hundreds of kernels are compiled, most of which are called twice.
os.environ["CFLAGS"] = "-O0"
os.environ["ROS2_DYN_CACHE"] = str(cache_folder() / "unoptimised")
# Each worker of pytest-xdist inherits the environment of the process that started it, and needs a domain of its own.
if "ROS_DOMAIN_ID" not in os.environ or "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["ROS_DOMAIN_ID"] = random_domain()


@pytest.fixture
def listener() -> Iterator[object]:
    """A node that publishes, listens and calls; closed at the end."""
    from ros_harness import Listener  # where ROS 2 is

    listener = Listener()
    yield listener
    listener.close()
