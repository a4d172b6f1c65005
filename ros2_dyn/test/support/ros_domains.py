"""ROS domains for tests that run side by side."""

from __future__ import annotations

import os
import random

WORKERS, DOMAINS = 4, 100
"""How many workers of pytest-xdist share no domain, and the largest domain."""


def random_domain() -> str:
    """Return a domain that no other worker of this run draws, and that is not the current one."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
    domains = {str(number) for number in range(1 + worker % WORKERS, 1 + DOMAINS, WORKERS)}
    return random.SystemRandom().choice(sorted(domains - {os.environ.get("ROS_DOMAIN_ID", "")}))
