"""Keeps the tests to themselves: no traffic beyond this machine, and a ROS domain of their own; and quick."""

import os
import random

from ros2_dyn.cli.processes import stay_on_this_machine

# Before any node or process is made.
stay_on_this_machine()
os.environ.setdefault("NUMBA_OPT", "0")  # Numba compiles hundreds of kernels, most of which are called twice
os.environ.setdefault("ROS_DOMAIN_ID", str(random.SystemRandom().randrange(1, 101)))
