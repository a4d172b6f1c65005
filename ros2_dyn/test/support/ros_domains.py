# SPDX-License-Identifier: Apache-2.0
"""ROS domains for tests that run side by side."""

from __future__ import annotations

import os
import random
import socket

DOMAINS = range(1, 101)
"""Domains that tests use."""
FIRST_PORT = 22200
"""A port that is bound on this machine stands for a domain that is taken."""
HELD = 20
"""Domains that a process holds at most; then it lets go of its second, for the first serves all tests without one."""
_taken: list[socket.socket] = []


def random_domain() -> str:
    """Return a domain that no other tests on this machine have, for as long as this process holds it.

    It is not used again soon, because a node that was killed there is not forgotten for 20 s.
    """
    if len(_taken) == HELD:
        _taken.pop(1).close()
    domains = list(DOMAINS)
    random.SystemRandom().shuffle(domains)
    for domain in domains:
        if str(domain) != os.environ.get("ROS_DOMAIN_ID") and _take(domain):
            return str(domain)
    raise RuntimeError(f"all of the domains {DOMAINS} are taken on this machine: wait until other tests have ended")


def _take(domain: int) -> bool:
    """Bind a domain's port."""
    taken = socket.socket()
    try:
        taken.bind(("127.0.0.1", FIRST_PORT + domain))
    except OSError:
        taken.close()
        return False
    _taken.append(taken)
    return True
