# SPDX-License-Identifier: Apache-2.0
"""When a simulation takes its next step: wall time and commands are played to it."""

import pytest
from numpy.testing import assert_allclose

from ros2_dyn.errors import InputError
from ros2_dyn.simulation.lockstep import CATCH_UP, SETTLING_TIME, Lockstep

PERIOD, TIMEOUT = 0.004, 1.0


def flowing(pace: float, now: float = 0.0) -> Lockstep:
    """Return a lockstep in which commands flow, at a wall time, s."""
    lockstep = Lockstep(PERIOD, pace, TIMEOUT)
    lockstep.commanded(now - SETTLING_TIME)
    assert lockstep.delay(now) == 0
    return lockstep


def run(lockstep: Lockstep, wall: float, cost: float, answer: float | None = None) -> list[float]:
    """Step for a wall time, where a step costs some time and is answered after some more; the times of the steps."""
    now, steps = 0.0, []
    while now < wall:
        delay = lockstep.delay(now)
        if delay > 0:
            answered = lockstep.awaits_command and answer is not None and answer < delay
            now += answer if answered else delay
            if answered:
                lockstep.commanded(now)
            continue
        steps.append(now)
        lockstep.stepped(True, now)
        now += cost
    return steps


@pytest.mark.parametrize("pace", [0.1, 1.0, 5.0])
def test_steps_keep_the_pace_on_a_machine_that_is_fast_enough(pace):
    steps = run(Lockstep(PERIOD, pace, 0.0), 10.0, cost=1e-4)
    assert_allclose(len(steps), 10.0 * pace / PERIOD, rtol=1e-2)


def test_pace_0_takes_a_step_as_soon_as_the_last_one_is_done():
    lockstep = Lockstep(PERIOD, 0.0, 0.0)
    assert_allclose(len(run(lockstep, 10.0, cost=1e-3)), 10_000, rtol=1e-3)
    assert_allclose(lockstep.real_pace(10.0), 4.0, rtol=1e-3)


def test_a_machine_that_is_too_slow_lowers_the_pace():
    lockstep = Lockstep(PERIOD, 1.0, 0.0)
    run(lockstep, 10.0, cost=0.02)
    assert_allclose(lockstep.real_pace(10.0), 0.2, rtol=1e-2)


def test_a_pause_is_caught_up_with_only_in_part():
    lockstep = Lockstep(PERIOD, 1.0, 0.0)
    before = len(run(lockstep, 1.0, cost=1e-4))
    lockstep.stepped(True, 10.0)
    due = 0
    while lockstep.delay(10.0) == 0:
        lockstep.stepped(True, 10.0)
        due += 1
    assert_allclose(due, CATCH_UP / PERIOD, atol=1)
    assert_allclose(before, 1.0 / PERIOD, atol=1)


def test_commands_that_flow_are_waited_for_and_no_step_comes_before_its_answer():
    lockstep = flowing(1.0)
    steps = run(lockstep, 10.0, cost=1e-4, answer=0.05)
    assert_allclose(len(steps), 200, atol=1)
    assert lockstep.unanswered == 0


@pytest.mark.parametrize("pace", [0.0, 5.0])
def test_lockstep_is_no_faster_than_real_time_while_no_commands_flow(pace):
    assert_allclose(len(run(Lockstep(PERIOD, pace, TIMEOUT), 10.0, cost=1e-4)), 10.0 / PERIOD, rtol=1e-2)
    assert len(run(flowing(pace), 10.0, cost=1e-4, answer=1e-4)) > 4 * 10.0 / PERIOD


def test_no_step_is_due_until_the_states_under_way_are_answered_when_commands_begin():
    lockstep = Lockstep(PERIOD, 0.0, TIMEOUT)
    lockstep.stepped(True, 0.0)
    for now in (1.0, 1.1, 1.5):
        lockstep.commanded(now)
        assert lockstep.awaits_command
        assert_allclose(lockstep.delay(now), SETTLING_TIME)
    assert lockstep.delay(1.5 + SETTLING_TIME) == 0
    lockstep.stepped(True, 3.0)
    assert_allclose(lockstep.delay(3.0), TIMEOUT)
    assert lockstep.unanswered == 0


def test_the_end_of_commands_costs_one_timeout_and_the_next_command_resumes():
    lockstep = flowing(0.0, 5.0)
    lockstep.stepped(True, 5.0)
    assert_allclose(lockstep.delay(5.2), 0.8)
    assert lockstep.delay(6.0) == 0
    assert lockstep.unanswered == 1
    lockstep.stepped(True, 6.0)
    assert_allclose(lockstep.delay(6.0), PERIOD)
    lockstep.commanded(6.5)
    assert lockstep.delay(7.0) == 0
    lockstep.stepped(True, 7.0)
    assert_allclose(lockstep.delay(7.0), TIMEOUT)
    lockstep.commanded(7.0)
    assert lockstep.delay(7.0) == 0
    assert lockstep.unanswered == 1


def test_a_surplus_command_that_arrives_before_the_next_state_does_not_answer_it():
    lockstep = flowing(0.0)
    lockstep.stepped(True, 0.0)
    lockstep.commanded(0.05)
    lockstep.commanded(0.05)
    lockstep.stepped(True, 0.1)
    assert_allclose(lockstep.delay(0.1), TIMEOUT)


def test_a_step_that_publishes_no_state_is_not_awaited():
    lockstep = flowing(0.0)
    lockstep.stepped(False, 0.0)
    assert lockstep.delay(0.0) == 0
    lockstep.stepped(True, 0.1)
    assert lockstep.delay(0.1) > 0


def test_nothing_is_awaited_after_the_controller_was_switched_off():
    lockstep = flowing(0.0)
    lockstep.stepped(True, 0.0)
    lockstep.end()
    assert lockstep.delay(0.0) <= PERIOD
    assert lockstep.unanswered == 0


@pytest.mark.parametrize(
    ("numbers", "name"),
    [((0.0, 1.0, 1.0), "period"), ((PERIOD, -1.0, 1.0), "pace"), ((PERIOD, 1.0, float("nan")), "lockstep_timeout")],
)
def test_a_number_out_of_its_range_is_refused_by_name(numbers, name):
    with pytest.raises(InputError, match=name):
        Lockstep(*numbers)
