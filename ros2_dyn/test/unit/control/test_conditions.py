# SPDX-License-Identifier: Apache-2.0
"""The conditions of the modes: which end which mode, and with which reason."""

from dataclasses import replace
from math import inf, nan
from types import SimpleNamespace

import numpy as np
import pytest

from control_states import SEVEN, arm_at, moving
from ros2_dyn.control import MODES
from ros2_dyn.control.command_settings import CommandSettings
from ros2_dyn.control.conditions import find_violation
from ros2_dyn.control.events import Violation
from ros2_dyn.control.position_limits import PositionLimits
from ros2_dyn.control.sampled_stability import SampledLoop

STATE = replace(moving(SEVEN, 1), qd=np.zeros(7))
SINGULAR = replace(STATE, J=np.zeros((6, 7)))
LATE = SampledLoop(0.01, 0.03, fed_energy=0.021)


def wrench(age: float) -> SimpleNamespace:
    """Return a desired wrench of an age, s."""
    return SimpleNamespace(desired_at=-age, in_base_axes=lambda q: np.zeros(6))


def desired(distance: float) -> SimpleNamespace:
    """Return a desired state at a distance from each joint, rad or m."""
    return SimpleNamespace(q=(STATE.q + distance).tolist(), qd=None, qdd=[0.0] * 7)


def violation(mode: str, **given) -> str:
    """Return the violation of an arm as one text, empty where there is none."""
    found = find_violation(MODES[mode](MODES[mode].Parameters(), 0.0), arm_at(**{"state": STATE, **given}))
    return "" if found is None else found.kind + found.detail


FAST = replace(STATE, qd=np.array([0.0, -1.3, 0.0, 0.0, 0.0, 0.0, 0.0]))


@pytest.mark.parametrize("mode", MODES)
def test_a_joint_that_is_too_fast_ends_every_mode(mode):
    """An arm that follows no motion of its joints is slow: as the tip may be, on a lever of 0.2 m."""
    found = find_violation(MODES[mode](MODES[mode].Parameters(), 0.0), arm_at(FAST, velocity=1.2))
    assert found == Violation("too fast", ": 'joint 1' moves with -1.3, 1.2 rad/s or m/s are allowed")
    allowed = "" if mode == "feed_forward" else "too fast: 'joint 1' moves with -1.3, 1.25 rad/s or m/s are allowed"
    assert violation(mode, state=replace(FAST, J=np.ones((6, 7)) * 1e-3)) == allowed


@pytest.mark.parametrize("mode", MODES)
def test_a_speed_that_only_the_positions_show_ends_every_mode(mode):
    """A driver may tell velocities of zero, and the joint move all the same."""
    found = find_violation(MODES[mode](MODES[mode].Parameters(), 0.0), arm_at(STATE, velocity=1.2, shown_qd=FAST.qd))
    assert found == Violation("too fast", ": 'joint 1' moves with -1.3, 1.2 rad/s or m/s are allowed")
    slow = STATE.qd + 0.5
    limits = PositionLimits(tuple(map(str, range(7))), STATE.q - 0.01, STATE.q + 0.01, 0.1)
    assert violation(mode, shown_qd=slow, positions=limits).startswith("position limit: '0' at")
    if mode != "feed_forward":
        fast = replace(STATE, J=np.ones((6, 7)))
        assert violation(mode, state=fast, shown_qd=slow).startswith("tip too fast: it moves with 6.06 m/s")


def accelerated(joint: int, effort: float) -> SimpleNamespace:
    """Return a desired state whose acceleration takes an effort of one joint alone, N m."""
    return SimpleNamespace(q=None, qd=None, qdd=np.linalg.solve(STATE.M, effort * np.eye(7)[joint]).tolist())


def test_a_motion_that_no_joint_can_make_is_not_followed():
    """Nor is it commanded for a moment: the arm would be at its effort limit until it is too fast."""
    fast = SimpleNamespace(q=None, qd=[0.0, -2.1, *[0.0] * 5], qdd=[0.0] * 7)
    expected = "target impossible: 'joint 1' with 2.1 rad/s or m/s, 2 are allowed"
    assert violation("feed_forward", desired=fast, velocity=2.0) == expected
    assert violation("feed_forward", desired=fast, velocity=2.2) == ""
    expected = "target impossible: 'joint 3' needs 101 N m or N to accelerate, it has 50"
    assert violation("feed_forward", desired=accelerated(3, -101.0), effort=50.0) == expected
    assert violation("feed_forward", desired=accelerated(3, -99.0), effort=50.0) == ""
    assert violation("feed_forward", desired=accelerated(0, 1e300)).startswith("target impossible: 'joint 0'")


@pytest.mark.parametrize(
    ("mode", "given", "expected"),
    [
        ("feed_forward", {"collision": True}, "collision"),
        ("gravity", {"collision": True}, "collision"),
        ("gravity", {"velocity_problem": "they are zero"}, "velocity implausible: they are zero"),
        ("gravity", {"doubt": Violation("model doubted", ": it is odd")}, "model doubted: it is odd"),
        ("hand_guiding", {"enable_age": inf}, "enable released: the enabling signal is released"),
        ("hand_guiding", {"enable_age": 0.21}, "enable released: the enabling signal is 0.210 s old"),
        ("feed_forward", {"desired_at": -0.11}, "target stale: 0.110 s old"),
        ("force", {"wrench": None}, "target stale: none is usable"),
        ("force", {"wrench": wrench(nan)}, "target stale: none is usable"),
        ("feed_forward", {"desired": desired(0.31)}, "target far: 0.31 rad or m away, 0.3 are allowed"),
        ("feed_forward", {"desired": desired(nan)}, "target far: nan rad or m away"),
        ("force", {"state": SINGULAR}, "singularity: smallest singular value"),
        (
            "gravity",
            {"detects_collisions": True, "detector_age": 0.2, "state_timeout": 0.1},
            "detector blind: joint_states gave no usable effort for 0.200 s",
        ),
        (
            "hand_guiding",
            {"loop": LATE},
            "energy: commands that come 40 ms late fed 0.021 J into the arm, 0.02 J are allowed",
        ),
    ],
)
def test_a_violated_condition_is_found_with_its_reason(mode, given, expected):
    assert violation(mode, **given).startswith(expected)


@pytest.mark.parametrize(
    ("mode", "given"),
    [
        ("hand_guiding", {"collision": True}),
        ("force", {"collision": True}),
        ("hand_guiding", {"detects_collisions": True, "detector_age": 0.2, "state_timeout": 0.1}),
        ("gravity", {"enable_age": inf}),
        ("gravity", {"wrench": None, "desired": None, "state": SINGULAR}),
        ("hand_guiding", {"wrench": None, "desired": None, "state": SINGULAR}),
        ("feed_forward", {"state": SINGULAR, "desired_at": -0.1, "desired": desired(0.29)}),
        ("force", {"wrench": wrench(0.1), "loop": LATE._replace(fed_energy=0.02)}),
        ("impedance", {"wrench": None}),
    ],
)
def test_a_condition_of_other_modes_does_not_count(mode, given):
    assert violation(mode, **given) == ""


def test_a_button_may_be_declared_as_not_needed():
    assert violation("hand_guiding", enable_age=inf, commands=CommandSettings(require_enable=False)) == ""
