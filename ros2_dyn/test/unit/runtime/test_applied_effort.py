# SPDX-License-Identifier: Apache-2.0
"""The effort at rest of a robot: when it is remembered, and for how long."""

from types import SimpleNamespace

import numpy as np
import pytest

from ros2_dyn.control.ramp import Ramp
from ros2_dyn.runtime.applied_effort import AppliedEffort

MODEL = SimpleNamespace(effort_limit=np.array([10.0, 10.0]))
SETTINGS = SimpleNamespace(states=SimpleNamespace(timeout=0.1))
ROBOT = SimpleNamespace(
    settings=SETTINGS,
    payload=SimpleNamespace(share=Ramp().share),
    model=MODEL,
    exerted=lambda measured, terms, gravity: np.array(measured.effort),
)
HELD = np.array([1.0, 2.0])
REST = np.array([0.0, 0.5])


def stand(
    applied: AppliedEffort,
    *,
    robot=ROBOT,
    command: np.ndarray | None = HELD,
    effort: np.ndarray | None = None,
    proves: bool = True,
    start: float = 0.0,
    states: int = 20,
) -> AppliedEffort:
    """Let the arm stand still for 0.2 s under a command, or for some states, with a measured effort."""
    measured = SimpleNamespace(q=REST.tolist(), effort=None if effort is None else effort.tolist())
    for k in range(states):
        state, terms = SimpleNamespace(measured=measured), SimpleNamespace(gravity=(0.0, 0.0))
        observed = SimpleNamespace(now=start + 0.01 * k, state=state, terms=terms)
        applied.observe(robot, observed, command, proves=proves)
    return applied


def pass_by(applied: AppliedEffort, q: np.ndarray, now: float) -> None:
    """Let one state come of an arm that nothing of ours carries."""
    measured = SimpleNamespace(q=q.tolist(), effort=None)
    applied.observe(ROBOT, SimpleNamespace(now=now, state=SimpleNamespace(measured=measured)), None, proves=True)


@pytest.mark.parametrize("proves", [False, True])
def test_effort_is_remembered_where_nobody_carries_a_part_of_the_arm(proves):
    held = stand(AppliedEffort(), proves=proves).held_at(REST)
    assert (held is not None) == proves


def test_effort_holds_only_where_it_was_remembered_and_until_the_load_changes():
    applied = stand(AppliedEffort())
    at, elsewhere = np.array([0.005, 0.5]), np.array([0.02, 0.5])
    np.testing.assert_allclose(applied.held_at(at), HELD)
    assert applied.held_at(elsewhere) is None
    applied.on_weight_changed()
    assert applied.held_at(at) is None
    stand(applied, start=1.0)
    np.testing.assert_allclose(applied.held_at(at), HELD)


def test_what_is_measured_when_commands_have_ended_takes_the_place_of_the_command():
    """No controller may have taken the command, and another one held the arm."""
    applied = stand(AppliedEffort())
    stand(applied, command=None, start=0.2)
    np.testing.assert_allclose(applied.held_at(REST), HELD)  # nothing is measured
    stand(applied, command=None, effort=np.zeros(2), start=0.4)
    np.testing.assert_allclose(applied.held_at(REST), HELD)  # zeros: nothing either
    stand(applied, command=None, effort=3 * HELD, start=0.6)
    np.testing.assert_allclose(applied.held_at(REST), 3 * HELD)
    stand(applied, command=2 * HELD, effort=3 * HELD, start=0.8)
    np.testing.assert_allclose(applied.held_at(REST), 2 * HELD)


def test_one_noisy_effort_after_a_pause_does_not_take_the_place_of_the_average():
    """A stop without states carried a light wrist by such noise: it went 1.9 rad, at 5 rad/s."""
    applied = AppliedEffort()
    for k in range(6):
        stand(applied, command=None, effort=HELD, start=0.2 * k)
    stand(applied, command=None, effort=4 * HELD, proves=False, start=1.2)
    stand(applied, command=None, effort=4 * HELD, start=1.4, states=1)
    held = applied.held_at(REST)
    assert (held > HELD).all()
    assert (held < 1.5 * HELD).all()


def test_an_arm_that_is_seen_again_is_not_known_to_move():
    """It may have been elsewhere when it was seen last; a mode that began then let it go."""
    applied = stand(AppliedEffort())
    assert not applied.moves
    for k in range(20):
        pass_by(applied, REST + 0.1, 5.0 + 0.01 * k)
        assert not applied.moves
    for k in range(20):
        pass_by(applied, REST + 0.1 + 0.001 * k, 5.2 + 0.01 * k)
    assert applied.moves


def test_what_holds_the_arm_amid_the_ramp_of_a_payload_is_not_averaged():
    """The average of what held less would let the arm sink when the ramp is over."""
    applied = stand(AppliedEffort())
    ramping = SimpleNamespace(settings=SETTINGS, payload=SimpleNamespace(share=Ramp(0.2, 0.5).share), model=MODEL)
    stand(applied, robot=ramping, command=2 * HELD, start=0.2)
    np.testing.assert_allclose(applied.held_at(REST), 2 * HELD)


@pytest.mark.parametrize("absurd", [1e6, np.inf, np.nan])
def test_effort_that_no_motor_exerts_does_not_hold_the_arm(absurd):
    """Kept as what the model lacks, it threw an arm at 9 rad/s when a mode began three seconds later."""
    applied = stand(AppliedEffort())
    stand(applied, command=np.array([absurd, 2.0]), start=0.2)
    np.testing.assert_allclose(applied.held_at(REST), HELD)


def test_effort_is_forgotten_when_the_arm_is_moved_away_and_back():
    """Somebody else has moved it, and holds it by now."""
    applied = stand(AppliedEffort())
    pass_by(applied, np.array([0.0, 0.6]), 1.0)
    pass_by(applied, REST, 1.1)
    assert applied.held_at(REST) is None


def test_what_the_newest_command_makes_the_joints_exert_comes_before_what_held_the_arm():
    applied, command = stand(AppliedEffort()), np.array([3.0, 4.0])
    robot = SimpleNamespace(exerted=lambda *_: None)
    latest = SimpleNamespace(state=SimpleNamespace(measured=None), terms=None)
    state = SimpleNamespace(q=REST, gravity=np.zeros(2))
    np.testing.assert_allclose(applied.at(robot, latest, state, command), command)
    np.testing.assert_allclose(applied.at(robot, latest, state, None), HELD)


def test_average_of_what_is_measured_holds_an_arm_at_rest_and_the_newest_effort_one_that_moves():
    """A mode that began with a spike of the newest state threw the arm at 5 rad/s."""
    applied = stand(AppliedEffort(), command=None, effort=HELD)
    spike = SimpleNamespace(state=SimpleNamespace(measured=SimpleNamespace(effort=[9.0, -9.0])), terms=None)
    state = SimpleNamespace(q=REST, gravity=np.zeros(2))
    np.testing.assert_allclose(applied.at(ROBOT, spike, state, None), HELD)
    for k in range(20):
        pass_by(applied, REST + 0.0004 * k, 0.2 + 0.01 * k)
    np.testing.assert_allclose(applied.at(ROBOT, spike, state, None), [9.0, -9.0])
