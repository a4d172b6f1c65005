# SPDX-License-Identifier: Apache-2.0
"""Faults while the runtime commands an arm, at random moments: whatever happens, no command leaves that must not.

Each fault is played 48 times in virtual time, in all modes by turns; where FULL is 1, a hundred times in each.
"""

from __future__ import annotations

from math import nan

import numpy as np
import pytest

from ros2_dyn.control.command_supervisor import RAMP_DOWN_PERIOD
from ros2_dyn.control.modes import MODES, MONITOR
from ros2_dyn.dynamics import gravity
from ros2_dyn.runtime import JointSample, PayloadRequest
from ros2_dyn.runtime.failsafe_runtime import MAX_WAIT
from ros2_dyn.runtime.inputs import ClockJump, Description
from runtime_rig import HOME, NAMES, SMALL_ARM, URDF, RuntimeRig, no_failsafe
from tiers import FULL

REQUESTS = (MONITOR, *MODES)
HEAVIER = URDF.replace('<mass value="8.393"/>', '<mass value="9.393"/>')
WEAKER = URDF.replace('effort="150"', 'effort="140"')
RENAMED = URDF.replace(NAMES[2], "another_joint")
AWAY = 0.8
"""Distance from home at which the arm is put back there, rad."""


def states_stop(rig: RuntimeRig, mode: str) -> None:
    """States stop for longer than the timeout, or for less; after a second the arm's weight is what is commanded."""
    active, seconds = rig.runtime.mode in MODES, rig.rng.choice([0.03, 0.08, 0.25, 1.0])
    rig.silence(seconds)
    if active and seconds == 1.0:
        assert (rig.runtime.mode, rig.runtime.commands) == ("stopped", True)
        check_carried(rig, rig.commands[-1].effort)


def check_carried(rig: RuntimeRig, effort: np.ndarray) -> None:
    """Check that an effort is the declared one: it carries the arm where it was last seen."""
    error = np.abs(effort - gravity(SMALL_ARM, rig.q))
    assert np.all(error <= 0.02 * SMALL_ARM.effort_limit), error


def states_are_lost(rig: RuntimeRig, mode: str) -> None:
    """States are lost at random."""
    rig.change = lambda sample: sample if rig.rng.random() < 0.2 else None
    rig.step(25)


def state_freezes(rig: RuntimeRig, mode: str) -> None:
    """The same numbers come again and again, with new stamps or without."""
    first: list[JointSample] = []
    restamps = rig.rng.random() < 0.7

    def frozen(sample: JointSample) -> JointSample:
        first.append(sample)
        if len(first) == 1:
            return sample
        return first[0]._replace(stamp=sample.stamp if restamps else first[0].stamp, received=sample.received)

    rig.change = frozen
    rig.step(20)


def not_a_number(rig: RuntimeRig, mode: str) -> None:
    """Positions or velocities, of one joint or of all, are NaN."""
    field, joint = rig.rng.choice(["position", "velocity"]), rig.rng.integers(4)

    def broken(sample: JointSample) -> JointSample:
        values = [nan if joint in (i, 3) else x for i, x in enumerate(getattr(sample, field))]
        return sample._replace(**{str(field): values})

    rig.change = broken
    rig.step(20)


def target_stops(rig: RuntimeRig, mode: str) -> None:
    """A mode that follows a target gets none, and stops."""
    rig.targets = False
    rig.step(20)
    assert mode not in MODES or MODES[mode].needs.target is None or rig.runtime.mode in ("stopped", "monitor")


def target_jumps(rig: RuntimeRig, mode: str) -> None:
    """The target jumps, sometimes beyond the tolerance, and has accelerations beyond the limits of the arm."""
    home, rig.acceleration_factor = rig.center, rig.rng.choice([-1e4, 1.0, 1e4])
    for _ in range(5):
        rig.center = home + rig.rng.choice([0.1, 0.5], p=[0.95, 0.05]) * rig.rng.uniform(-1, 1, 3)
        rig.step(4)
    rig.center, rig.acceleration_factor = home, 1.0


def payload_jumps(rig: RuntimeRig, mode: str) -> None:
    """A heavy payload comes and goes without a ramp, and a wrong one is refused."""
    for mass in (rig.rng.uniform(2.0, 8.0), 0.0, -1.0 if rig.rng.random() < 0.5 else 1.0, 0.0):
        parameters = (mass, 0.0, 0.0, 0.1 * mass, 0.02 * mass, 0.0, 0.0, 0.02 * mass, 0.0, 0.01 * mass)
        rig.take(rig.runtime.step(PayloadRequest("", parameters), rig.now))
        rig.step(rig.rng.integers(1, 4))


def mode_toggled(rig: RuntimeRig, mode: str) -> None:
    """The mode changes at 50 Hz, between this and another one; sometimes the failsafe process does not start."""
    others = [each for each in MODES if each != mode]
    other = others[rig.rng.integers(len(others))]
    if rig.rng.random() < 0.2:
        rig.arm_failsafe = no_failsafe
    for i in range(10):
        rig.request((other, mode)[i % 2])
        rig.step(2 + i % 2)


def clock_jumps(rig: RuntimeRig, mode: str) -> None:
    """The node's clock, the driver's, or both jump, there and back."""
    jump = rig.rng.choice([-1, 1]) * 10 ** rig.rng.uniform(-1.5, 3.5)
    which = rig.rng.integers(3)
    rig.node_offset, rig.driver_offset = (0.0 if which == 1 else jump), (0.0 if which == 0 else jump)
    if which != 1 and rig.rng.random() < 0.5:
        rig.take(rig.runtime.step(ClockJump(f"by {jump:.3f} s"), rig.now))
    rig.step(20)


def new_description(rig: RuntimeRig, mode: str) -> None:
    """Another load, weaker drives, another joint name or no robot at all comes, and then the first again."""
    rig.work_delay = lambda: rig.rng.uniform(0.0, 0.1)
    for xml in ((HEAVIER, WEAKER, RENAMED, "<robot")[rig.rng.integers(4)], URDF):
        rig.take(rig.runtime.step(Description(xml), rig.now))
        rig.step(rig.rng.integers(16))
    rig.step(14)


def controller_gone(rig: RuntimeRig, mode: str) -> None:
    """The controller ends; nothing is commanded any more."""
    rig.use_link(subscribers=0)
    before = rig.commanded
    rig.step(10)
    assert rig.commanded == before
    assert rig.runtime.mode == "monitor"


def failsafe_gone(rig: RuntimeRig, mode: str) -> None:
    """The failsafe process ends, and the mode stops."""
    rig.use_link(failsafe_alive=False)
    assert rig.runtime.mode in ("monitor", "stopped")
    rig.step(10)


def node_killed(rig: RuntimeRig, mode: str) -> None:
    """The failsafe process goes to the safe effort and repeats it, and a new node begins in monitor."""
    guarded, before = rig.runtime.mode in MODES, len(rig.failsafe_commands)
    rig.kill()
    assert rig.runtime.mode == "monitor"
    if guarded:
        sent = rig.failsafe_commands[before:]
        assert (len(sent) - 1) * RAMP_DOWN_PERIOD >= MAX_WAIT - 0.1
        np.testing.assert_array_equal(sent[200:], np.tile(sent[-1], (len(sent) - 200, 1)))
        check_carried(rig, sent[-1])
    rig.step(5)


def arm_restarts(rig: RuntimeRig, mode: str) -> None:
    """The arm's process ends, and begins again at home, with an effort of its own."""
    rig.silence(0.2)
    rig.q, rig.qd = HOME.copy(), np.zeros(3)
    rig.step(5)


def slow_machine(rig: RuntimeRig, mode: str) -> None:
    """States wait before they are taken, and commands before they are published."""
    rig.publish_delay = lambda: rig.rng.exponential(0.02)
    rig.change = lambda sample: sample
    for _ in range(15):
        rig.delay = rig.rng.exponential(0.02)
        rig.step()


FAULTS = {
    "state stream stops": states_stop,
    "states are lost": states_are_lost,
    "state freezes": state_freezes,
    "NaN": not_a_number,
    "target stops": target_stops,
    "target jumps": target_jumps,
    "payload jumps": payload_jumps,
    "mode toggled at 50 Hz": mode_toggled,
    "new URDF": new_description,
    "clock jump": clock_jumps,
    "controller gone": controller_gone,
    "failsafe gone": failsafe_gone,
    "arm process killed": arm_restarts,
    "node killed": node_killed,
    "slow machine": slow_machine,
}


def restore(rig: RuntimeRig) -> None:
    """End all faults, and put an arm home that strayed."""
    rig.change, rig.targets, rig.delay = (lambda sample: sample), True, 0.001
    rig.node_offset = rig.driver_offset = 0.0
    rig.work_delay = rig.publish_delay = lambda: 0.0
    rig.arm_failsafe = lambda config: None
    rig.use_link(subscribers=1)
    rig.step(2)
    if np.max(np.abs(rig.q - HOME)) > AWAY or np.max(np.abs(rig.qd)) > 0.5:
        rig.place_home()
    if rig.runtime.mode == "stopped":
        rig.set_mode("monitor")
    rig.step(8)


def enter(rig: RuntimeRig, mode: str) -> None:
    """Enter a mode, from wherever the fault before has led."""
    for _ in range(40):
        rig.center = rig.q - rig.amplitude * np.sin(2.0 * rig.now + rig.phase)
        rig.step(2)
        reply = rig.set_mode(mode)
        if reply.error is None:
            return
        if "tip too fast" in str(reply.error):
            rig.qd = np.zeros(3)  # somebody holds the arm
        rig.step(3)
    raise AssertionError(f"{mode} is not entered: {reply.error}")


@pytest.mark.parametrize("fault", FAULTS)
def test_no_command_breaks_a_rule_whatever_fault_occurs(fault):
    """A command is finite, within the limits, without a step, and of a fresh state; monitor commands nothing.

    Without fresh states a command goes to the declared effort and repeats it.
    """
    rig = RuntimeRig(seed=list(FAULTS).index(fault))
    rig.step(12)
    entered, times = 0, (100 if FULL else 8) * len(REQUESTS)
    for i in range(times):
        mode = REQUESTS[i % len(REQUESTS)]
        enter(rig, mode)
        rig.step(rig.rng.integers(1, 9))
        entered += rig.runtime.mode == mode
        before, leaving = rig.commanded, rig.runtime.commands
        FAULTS[fault](rig, mode)
        if mode == "monitor" and not leaving and fault != "mode toggled at 50 Hz":
            assert rig.commanded == before
        restore(rig)
        assert not rig.violations, "\n".join(rig.examples[:5])
    assert entered >= 0.95 * times
    assert rig.commanded > 3 * times
