"""The ramp of a failsafe process: from the newest command to the safe effort, within the limits, and then silence."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ros2_dyn.control.command_supervisor import RAMP_DOWN_PERIOD
from ros2_dyn.control.failsafe_ramp import REPETITIONS, FailsafeRamp, LastCommand

EFFORT, HOLD = np.array([5.0, 2.0]), np.array([1.2, -0.8])
LIMIT, SLEW_RATE = np.array([8.0, 4.0]), np.array([50.0, 20.0])


def ramp(behaviour="hold_gravity", age=0.035, effort=EFFORT, hold=HOLD) -> tuple[FailsafeRamp, list[np.ndarray]]:
    """Take over from a command whose state has an age, s; return the ramp and its commands of 1 s."""
    taken = FailsafeRamp(LIMIT, SLEW_RATE, behaviour, LastCommand(100.0 - age, effort, hold), 100.0)
    commands = [taken.step(100.0 + k * RAMP_DOWN_PERIOD) for k in range(1, 101)]
    return taken, [command for command in commands if command is not None]


@pytest.mark.parametrize("age", [0.035, 0.081, 3600.0, float("nan")])
@pytest.mark.parametrize(("behaviour", "safe"), [("hold_gravity", HOLD), ("zero_effort", np.zeros(2))])
def test_the_ramp_arrives_at_the_safe_effort_at_the_slew_rate_however_old_the_state_is(behaviour, safe, age):
    taken, commands = ramp(behaviour, age)
    assert_array_equal(taken.first, EFFORT)
    step = RAMP_DOWN_PERIOD * SLEW_RATE
    assert_allclose(commands[0], EFFORT - step)
    assert np.all(np.abs(np.diff(commands, axis=0)) <= step * (1 + 1e-9))
    for effort in commands[-REPETITIONS:]:
        assert_array_equal(effort, safe)
    assert not np.array_equal(commands[-REPETITIONS - 1], safe)
    assert taken.ended


def test_no_command_is_above_the_limit_though_gravity_and_the_last_command_are():
    taken, commands = ramp(effort=np.array([8.5, 2.0]), hold=np.array([300.0, -300.0]))
    assert_array_equal(taken.first, [8.0, 2.0])
    assert np.all(np.abs(commands) <= LIMIT)
    assert_array_equal(commands[-1], [8.0, -4.0])


def test_the_ramp_is_empty_where_commands_are_to_end_at_once():
    taken, commands = ramp("none")
    assert taken.first is None
    assert taken.ended
    assert commands == []
