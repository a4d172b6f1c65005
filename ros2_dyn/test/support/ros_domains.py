"""ROS domains for tests that run side by side."""

from __future__ import annotations

import os
import random

WORKERS, DOMAINS = 4, 100
"""How many workers of pytest-xdist share no domain, and the largest domain."""


def random_domain() -> str:
    """Return a domain that no other worker of this run draws."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
    return str(random.SystemRandom().choice(range(1 + worker % WORKERS, 1 + DOMAINS, WORKERS)))
