"""Keeps the tests to themselves: no traffic beyond this machine, and a ROS domain of their own; and quick."""

import os
import random

from ros2_dyn.cli.processes import stay_on_this_machine
from ros2_dyn.kernels.cache import cache_folder

# Before any node or process is made.
stay_on_this_machine()
# Numba compiles hundreds of kernels, most of which are called twice; what it makes of them is not for others.
os.environ["NUMBA_OPT"] = "0"
os.environ["ROS2_DYN_CACHE"] = str(cache_folder() / "unoptimised")
os.environ.setdefault("ROS_DOMAIN_ID", str(random.SystemRandom().randrange(1, 101)))
