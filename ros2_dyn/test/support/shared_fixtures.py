# SPDX-License-Identifier: Apache-2.0
"""What the tests of all packages share: no traffic beyond this machine, a ROS domain of their own, quick kernels."""

import gc
import os
import random
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

# Tests run side by side: threads of linear algebra would only wait for each other. NumPy reads it when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest

from ros2_dyn.kernels.cache import cache_folder

# What modules are compiled to, with their rewritten assertions, is kept, but not in the checkout.
sys.dont_write_bytecode, sys.pycache_prefix = False, str(cache_folder() / "bytecode")

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


if TYPE_CHECKING:
    from driver import Driver
    from ros_harness import Process

with suppress(ImportError, LookupError):  # without ROS 2, or a build of ours, there is nobody to be heard
    from ros2_dyn.ros.localhost import use_localhost_only

    use_localhost_only()  # before any node or process is made
# Hundreds of kernels are compiled, most of which are called twice.
os.environ["CFLAGS"] = "-O0"
os.environ["ROS2_DYN_CACHE"] = str(cache_folder() / "unoptimised")
# Each worker of pytest-xdist inherits the environment of the process that started it, and needs a domain of its own.
if "ROS_DOMAIN_ID" not in os.environ or "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["ROS_DOMAIN_ID"] = random_domain()


def pytest_collection_finish() -> None:
    """Let the collector of cycles look no more through what was imported: there is nothing to collect in it."""
    gc.freeze()


OF_PROCESSES = {"node", "system"}
"""Folders of tests that start processes."""


@pytest.fixture(scope="module", autouse=True)
def domain_of_the_file(request: pytest.FixtureRequest) -> Iterator[None]:
    """Give each file that starts processes a domain of its own: a failsafe process outlives its node by seconds."""
    with pytest.MonkeyPatch.context() as patch:
        if OF_PROCESSES & set(request.path.parts):
            patch.setenv("ROS_DOMAIN_ID", random_domain())
        yield


@pytest.fixture
def own_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a test a domain of its own: a killed node is not forgotten for 20 s, and is a second commander."""
    monkeypatch.setenv("ROS_DOMAIN_ID", random_domain())


@pytest.fixture
def listener(own_domain: None) -> Iterator[object]:
    """A node that publishes, listens and calls, in a domain of its own; closed at the end."""
    from ros_harness import Listener  # where ROS 2 is

    listener = Listener()
    yield listener
    listener.close()


@pytest.fixture
def start() -> Iterator[Callable[..., "Process"]]:
    """Start processes, which end with the test."""
    from ros_harness import Process  # where ROS 2 is

    processes: list[Process] = []

    def start(module: str, *arguments: str, **environment: str) -> Process:
        processes.append(Process(module, *arguments, **environment))
        return processes[-1]

    yield start
    for process in processes:
        print(process.stop())


@pytest.fixture
def begin(listener: Any, start: Callable[..., "Process"]) -> Callable[..., "Driver"]:
    """Return a function that starts a node with parameters and returns its driver, with states answered."""
    from driver import Driver
    from robots import MOCK_ARM
    from ros_harness import words

    def begin(arm: Any = None, period: float = 0.01, answers: str = "dynamics/gravity", **parameters: Any) -> Driver:
        parameters = {"urdf_file": str(MOCK_ARM)} | parameters
        process = start("ros2_dyn.ros.dynamics_node", *words(**parameters))
        driver = Driver(listener, process, arm=arm, period=period, answers=answers)
        driver.begin()
        return driver

    return begin
