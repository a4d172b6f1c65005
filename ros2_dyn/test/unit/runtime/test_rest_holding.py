# SPDX-License-Identifier: Apache-2.0
"""The effort at rest of a robot: when it is remembered, and for how long."""

from types import SimpleNamespace

import numpy as np
import pytest

from ros2_dyn.runtime.rest_holding import RestHolding

HELD = np.array([1.0, 2.0])


def stand(rest, touched=False, start=0.0, escalated=False):
    """Let the arm stand still for 0.2 s under a command."""
    supervisor = SimpleNamespace(escalated=escalated, last=HELD)
    measured = SimpleNamespace(q=[0.0, 0.5], effort=None)
    for k in range(20):
        observed = SimpleNamespace(now=start + 0.01 * k, state=SimpleNamespace(measured=measured))
        rest.observe(None, observed, supervisor, touched=touched)
    return rest


@pytest.mark.parametrize("touched", [False, True])
def test_effort_is_remembered_where_nobody_carries_a_part_of_the_arm(touched):
    held = stand(RestHolding(), touched).known[1]
    assert (held is not None) == (not touched)


def test_effort_of_a_stop_that_failed_is_not_remembered():
    assert stand(RestHolding(), escalated=True).known == (None, None)


def test_effort_holds_only_where_it_was_remembered_and_until_the_load_changes():
    rest = stand(RestHolding())
    at, elsewhere = np.array([0.005, 0.5]), np.array([0.02, 0.5])
    np.testing.assert_allclose(rest.held_at(at), HELD)
    assert rest.held_at(elsewhere) is None
    rest.on_payload_changed()
    assert rest.held_at(at) is None
    stand(rest, start=1.0)
    np.testing.assert_allclose(rest.held_at(at), HELD)
