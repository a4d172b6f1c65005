# SPDX-License-Identifier: Apache-2.0
"""What has changed between two models of an arm."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from recordings import TRUE, exciting_motion
from robots import coupled
from ros2_dyn.dynamics import gravity
from ros2_dyn.errors import InputError
from ros2_dyn.model import Payload
from ros2_dyn_tools.passport.drift import drift, friction_at

MOTION = exciting_motion(TRUE, 10.0, 20.0)
UPRIGHT = np.array([0.0, 0.0, -9.81])


def test_payload_and_friction_that_changed_are_told():
    dynamics = {joint.name: replace(joint.dynamics, coulomb=1.5 * joint.dynamics.coulomb) for joint in TRUE.joints}
    now = TRUE.carrying(Payload(1.7, (0.03, -0.02, 0.1))).with_joint_dynamics(dynamics)
    found = drift(TRUE, now, MOTION.q, MOTION.qd, (UPRIGHT, UPRIGHT))
    assert_allclose(found.payload, (1.7, 0.03, -0.02, 0.1), atol=1e-6)
    then, rubs = found.friction
    dry = np.array([joint.dynamics.coulomb * np.tanh(v / 0.05) for joint, v in zip(TRUE.joints, found.speed)])
    assert_allclose(rubs - then, 0.5 * dry, rtol=1e-9)
    assert_allclose(found.weight, np.sqrt(np.mean((gravity(now, MOTION.q) - gravity(TRUE, MOTION.q)) ** 2, axis=0)))


def test_nothing_has_changed_of_the_same_arm():
    found = drift(TRUE, TRUE, MOTION.q, MOTION.qd, (UPRIGHT, UPRIGHT))
    assert found.payload == ()
    assert_allclose(found.friction[0], found.friction[1])
    assert_allclose(found.weight, 0.0, atol=1e-9)


def test_offsets_and_loads_of_friction_are_told_apart():
    """An offset is no friction; friction in proportion to the load is, as the root mean square of the weight."""
    dynamics = {joint.name: replace(joint.dynamics, offset=3.0, load=0.1) for joint in TRUE.joints}
    plain = friction_at(TRUE, np.full(TRUE.n, 1.0), MOTION.q, UPRIGHT)
    loaded = friction_at(TRUE.with_joint_dynamics(dynamics), np.full(TRUE.n, 1.0), MOTION.q, UPRIGHT)
    weight = np.sqrt(np.mean(gravity(TRUE, MOTION.q) ** 2, axis=0))
    assert_allclose(loaded - plain, 0.1 * weight * np.tanh(1.0 / 0.05), rtol=1e-9, atol=1e-12)


def test_presliding_of_a_joint_that_slides_is_friction():
    dynamics = {joint.name: replace(joint.dynamics, presliding=((0.01, 0.4), (0.1, 0.2))) for joint in TRUE.joints}
    speed = np.full(TRUE.n, 1.0)
    more = friction_at(TRUE.with_joint_dynamics(dynamics), speed, MOTION.q, UPRIGHT)
    assert_allclose(more - friction_at(TRUE, speed, MOTION.q, UPRIGHT), 0.6)


def test_payload_that_the_postures_do_not_tell_is_not_told():
    """One joint tells a first moment, and not the mass."""
    one = TRUE.reduced([TRUE.joint_names[1]])
    now = one.carrying(Payload(1.0, (0.0, 0.0, 0.0)))
    assert drift(one, now, MOTION.q[:, 1:2], MOTION.qd[:, 1:2], (UPRIGHT, UPRIGHT)).payload == ()


def test_another_arm_is_refused():
    with pytest.raises(InputError, match="it is of"):
        drift(TRUE.reduced(TRUE.joint_names[:5]), TRUE, MOTION.q, MOTION.qd, (UPRIGHT, UPRIGHT))


def test_friction_of_a_drive_that_turns_with_two_joints_is_told_as_of_a_plain_one():
    """Its speed is given, not those of the joints, so that it does not depend on what else turns it."""
    last, other = TRUE.joint_names[-1], TRUE.joint_names[-2]
    speed = np.full(TRUE.n, 0.1)
    found = friction_at(coupled(TRUE, **{last: {other: 1.0}}), speed, MOTION.q, UPRIGHT)
    assert_allclose(found, friction_at(TRUE, speed, MOTION.q, UPRIGHT), rtol=1e-9)
