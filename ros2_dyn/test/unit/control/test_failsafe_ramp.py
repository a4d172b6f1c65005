"""The ramp of a failsafe process: from the newest command to the safe effort, and then silence."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ros2_dyn.control.command_supervisor import RAMP_DOWN_PERIOD
from ros2_dyn.control.failsafe_ramp import FailsafeRamp, LastCommand

EFFORT, HOLD, SLEW_RATE = np.array([5.0, 2.0]), np.array([1.2, -0.8]), np.array([50.0, 20.0])


def ramp(behaviour="hold_gravity", age=0.035) -> tuple[FailsafeRamp, list[np.ndarray]]:
    """Take over from a command whose state has an age, s; return the ramp and its commands of 0.3 s."""
    taken = FailsafeRamp(SLEW_RATE, 0.1, behaviour, LastCommand(100.0 - age, EFFORT, HOLD), 100.0)
    commands = [taken.step(100.0 + k * RAMP_DOWN_PERIOD) for k in range(1, 31)]
    return taken, [command for command in commands if command is not None]


def test_the_ramp_goes_to_the_hold_effort_at_the_slew_rate_until_the_state_is_too_old():
    taken, commands = ramp()
    assert_array_equal(taken.first, EFFORT)
    assert len(commands) == 4  # 45, 55, 65 and 75 ms after the state
    for k, command in enumerate(commands, 1):
        assert_allclose(command, EFFORT - k * RAMP_DOWN_PERIOD * SLEW_RATE)
    assert taken.ended


def test_a_ramp_that_has_time_ends_at_the_hold_effort():
    taken = FailsafeRamp(SLEW_RATE, 1.0, "hold_gravity", LastCommand(99.6, EFFORT, HOLD), 100.0)
    for k in range(1, 30):
        command = taken.step(100.0 + k * RAMP_DOWN_PERIOD)
    assert_array_equal(command, HOLD)


def test_the_ramp_goes_to_zero_where_that_is_the_stop_behaviour():
    taken = FailsafeRamp(SLEW_RATE, 1.0, "zero_effort", LastCommand(99.6, EFFORT, HOLD), 100.0)
    for k in range(1, 30):
        command = taken.step(100.0 + k * RAMP_DOWN_PERIOD)
    assert_array_equal(command, [0.0, 0.0])


def test_the_ramp_is_empty_where_commands_are_to_end_at_once():
    assert ramp("none")[1] == []


@pytest.mark.parametrize("age", [0.081, 3600.0, float("nan")])
def test_nothing_is_commanded_on_a_state_that_is_too_old(age):
    taken, commands = ramp(age=age)
    assert taken.first is None
    assert taken.ended
    assert commands == []
