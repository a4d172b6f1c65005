"""Keeps the tests to themselves: no traffic beyond this machine, and a ROS domain of their own."""

import os
import random

# Before any node or process is made. Humble has another name for it.
if os.environ.get("ROS_DISTRO") == "humble":
    os.environ.setdefault("ROS_LOCALHOST_ONLY", "1")
else:
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
os.environ.setdefault("ROS_DOMAIN_ID", str(random.SystemRandom().randrange(1, 101)))
