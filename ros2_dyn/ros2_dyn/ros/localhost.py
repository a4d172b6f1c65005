# SPDX-License-Identifier: Apache-2.0
"""ROS 2 on this machine alone: what demos, tests and benchmarks set in their environment before the first node."""

from __future__ import annotations

import os
from pathlib import Path

from ament_index_python.packages import get_package_share_directory


def use_localhost_only(shared_memory: bool = False) -> None:
    """Limit the discovery of ROS 2 to this machine, unless the user's environment says otherwise.

    Fast DDS's shared memory is off by default. Where processes come and go it may block all of them for a third of a
    second (its issue 6535), which is longer than commands can wait for states, and a process that starts after another
    was killed may receive nothing (5469). ROS's own variables for this machine turn shared memory on, so a profile sets
    both.

    Args:
        shared_memory: whether Fast DDS may use it.
    """
    fast_dds = os.environ.get("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp").startswith("rmw_fastrtps")
    distribution = os.environ.get("ROS_DISTRO")
    if fast_dds and not shared_memory:
        profile = Path(get_package_share_directory("ros2_dyn"), "config", "loopback.xml")
        # Since Kilted, Fast DDS warns where the old variable is set.
        library = "FASTRTPS" if distribution in ("humble", "iron", "jazzy") else "FASTDDS"
        os.environ.setdefault(f"{library}_DEFAULT_PROFILES_FILE", str(profile))
    elif distribution == "humble":
        os.environ.setdefault("ROS_LOCALHOST_ONLY", "1")
    else:
        os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
