# SPDX-License-Identifier: Apache-2.0
"""The memory of a node and its failsafe process: what one stores the other reads, as it was."""

import tempfile
from collections.abc import Iterator

import numpy as np
import pytest

from ros2_dyn.control.stop.machine import NOTHING_FOUND, StopFindings
from ros2_dyn.ros.shared_command import SharedCommand
from ros2_dyn.runtime.update import LastCommand

N = 3
FAILED = StopFindings("released", np.array([0.1, 0.2, 0.3]), np.full(3, 7.0), np.array([True, False, False]))


@pytest.fixture
def both() -> Iterator[tuple[SharedCommand, SharedCommand]]:
    """The memory as the node has it, and as the failsafe process has it."""
    with tempfile.TemporaryFile() as shared:
        yield SharedCommand(shared.fileno(), N), SharedCommand(shared.fileno(), N)


HELD = StopFindings("holding", np.zeros(3))


def last(value: float, stop: StopFindings = NOTHING_FOUND) -> LastCommand:
    """Return a command that a number tells from others."""
    return LastCommand(value, np.full(N, value), np.full(N, 2 * value), tuple([value] * 10), stop)


@pytest.mark.parametrize(
    "stop", [NOTHING_FOUND, FAILED, FAILED._replace(released=None), StopFindings("holding", np.zeros(3))]
)
def test_failsafe_process_reads_the_newest_command_of_the_node(both, stop):
    node, failsafe = both
    assert failsafe.read() is None
    for k in range(5):
        node.update(last(1.0 + k, stop))
    assert repr(failsafe.read()) == repr(last(5.0, stop))
    node.clear()
    assert failsafe.read() is None


def test_node_knows_that_it_was_replaced(both):
    node, failsafe = both
    assert not node.taken
    failsafe.take()
    assert node.taken


def test_heartbeats_are_told_apart(both):
    node, failsafe = both
    node.beat()
    node.beat()
    failsafe.watch()
    assert (node.failsafe_beats, failsafe.beats) == (1, 2)
