# SPDX-License-Identifier: Apache-2.0
"""Friction in the equations of a payload where a drive turns with two joints."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from robots import coupled, mock_arm
from ros2_dyn.estimation.payload_equations import friction_along_windows, payload_equations
from ros2_dyn.estimation.payload_errors import sliding, stuck_variance
from ros2_dyn.estimation.state_windows import StateWindows
from ros2_dyn.model import JointDynamics

FRICTION = JointDynamics(coulomb=2.0, viscous=1.0, transition_velocity=0.001)
ARM = coupled(
    mock_arm().with_joint_dynamics(dict.fromkeys(mock_arm().joint_names, FRICTION)),
    wrist_3_joint={"wrist_2_joint": 0.5},
)


def windows(*qd) -> StateWindows:
    qd = np.array(qd)
    return StateWindows(np.arange(len(qd)) + 0.0, 0 * qd, qd, 0 * qd, 0 * qd)


def test_friction_of_a_drive_is_known_where_it_slides_and_not_where_it_stands():
    """In the first window only the fifth joint turns and takes the last drive along; in the second that stands."""
    both = windows(*[[0.0, 0, 0, 0, 1.0, 0], [1.0, 1, 1, 1, 1.0, -0.5]] * 3)
    assert_array_equal(sliding(ARM, both)[:2, 4:], [[True, True], [True, False]])
    friction = friction_along_windows(ARM, both, None)
    assert_allclose(friction[:2, 4:], [[3.0 + 0.5 * 2.5, 2.5], [3.0, 0.0]])
    slides = payload_equations(ARM, both, "tool0", None, np.ones(6), carries=True).slides
    assert_array_equal(slides[:2, 4:], [[True, True], [False, False]])
    assert_array_equal(slides[1, :4], True)


def test_joint_sticks_by_the_friction_of_all_drives_that_load_it():
    still = windows([0.0] * 6)
    variance = stuck_variance(ARM, np.zeros(6), sliding(ARM, still))
    assert_allclose(np.sqrt(3 * variance[0]), [2.0, 2.0, 2.0, 2.0, 3.0, 2.0])
