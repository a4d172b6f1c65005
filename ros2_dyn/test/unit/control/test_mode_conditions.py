# SPDX-License-Identifier: Apache-2.0
"""The conditions of the modes: which end which mode, and with which reason."""

from math import inf, nan

import numpy as np
import pytest

from ros2_dyn.control.mode_conditions import GuardInput, find_violation
from ros2_dyn.control.modes import ACTIVE_MODES
from supervisor_loop import CONDITIONS, LIMITS


def violation(mode, **seen) -> str:
    """Return the violation at a state as one text, empty where there is none."""
    given = {"now": 0.0, "age": 0.0, "q": np.zeros(2), "qd": np.array([0.5, 0.0])} | seen
    found = find_violation(mode, GuardInput(**given), LIMITS, CONDITIONS)
    return "" if found is None else "".join(found)


TOO_FAST = {"qd": np.array([0.0, -2.1])}


@pytest.mark.parametrize(
    ("mode", "seen", "expected"),
    [
        *((mode, TOO_FAST, "too fast: 'b' moves with -2.1, 2 rad/s or m/s are allowed") for mode in ACTIVE_MODES),
        ("feed_forward", {"collision": True}, "collision"),
        ("gravity", {"collision": True}, "collision"),
        ("feed_forward", {"target_age": 0.21}, "target stale: 0.210 s old"),
        ("force", {"target_age": inf}, "target stale: inf s old"),
        ("force", {"target_age": nan}, "target stale: nan s old"),
        ("feed_forward", {"target_distance": 0.31}, "target far: 0.31 rad or m from it"),
        ("feed_forward", {"target_distance": nan}, "target far: nan rad or m from it"),
        ("force", {"min_singular_value": 0.019}, "singularity: smallest singular value 0.019"),
        (
            "hand_guiding",
            {"fed_energy": 0.021, "delay": 0.04},
            "energy: commands that come 40 ms late fed 0.021 J into the arm, commands.energy_budget allows 0.02 J",
        ),
        ("force", {"reduced_for": 1.01, "delay": 0.04}, "delay: 40 ms allow less than the desired wrench"),
    ],
)
def test_a_violated_condition_is_found_with_its_reason(mode, seen, expected):
    assert violation(mode, **seen) == expected


@pytest.mark.parametrize(
    ("mode", "seen"),
    [
        ("hand_guiding", {"collision": True}),
        ("force", {"collision": True}),
        ("gravity", {"target_age": inf, "target_distance": 9.0, "min_singular_value": 0.0}),
        ("hand_guiding", {"target_age": inf, "target_distance": 9.0, "min_singular_value": 0.0}),
        ("feed_forward", {"min_singular_value": 0.0, "target_age": 0.2, "target_distance": 0.3}),
        ("force", {"min_singular_value": 0.02, "target_age": 0.2, "reduced_for": 1.0, "fed_energy": 0.02}),
        ("gravity", {"reduced_for": 9.0, "delay": 0.1}),
    ],
)
def test_a_condition_of_other_modes_does_not_count(mode, seen):
    assert violation(mode, **seen) == ""
