# SPDX-License-Identifier: Apache-2.0
"""The transitions of the modes."""

import pytest

from ros2_dyn.control.mode_state_machine import ModeStateMachine
from ros2_dyn.control.modes import ACTIVE_MODES


def entered(mode="force") -> ModeStateMachine:
    """Return a machine in a mode."""
    machine = ModeStateMachine()
    machine.enter(mode)
    return machine


def seen(machine: ModeStateMachine) -> tuple[str, str, bool, bool]:
    """Return all that a machine shows."""
    return machine.mode, machine.reason, machine.leaving, machine.is_active


def test_the_first_mode_is_monitor():
    assert seen(ModeStateMachine()) == ("monitor", "", False, False)


@pytest.mark.parametrize("mode", ACTIVE_MODES)
def test_a_mode_that_is_entered_is_active(mode):
    assert seen(entered(mode)) == (mode, "", False, True)


def test_leaving_ends_in_monitor_when_silent():
    machine = entered()
    machine.leave()
    assert seen(machine) == ("monitor", "", True, False)
    machine.silence()
    assert seen(machine) == ("monitor", "", False, False)


def test_leaving_after_a_stop_forgets_its_reason():
    machine = entered()
    machine.stop("collision")
    machine.leave()
    assert seen(machine) == ("monitor", "", True, False)


def test_a_stop_keeps_its_reason_when_silent():
    machine = entered()
    machine.stop("collision")
    assert seen(machine) == ("stopped", "collision", False, False)
    machine.silence()
    assert seen(machine) == ("monitor", "collision", False, False)


def test_a_mode_that_is_entered_again_has_no_reason():
    machine = entered()
    machine.stop("collision")
    machine.enter("gravity")
    assert seen(machine) == ("gravity", "", False, True)


def test_an_abort_leads_to_monitor_at_once_with_its_reason():
    machine = entered()
    machine.leave()
    machine.abort("no subscriber")
    assert seen(machine) == ("monitor", "no subscriber", False, False)
