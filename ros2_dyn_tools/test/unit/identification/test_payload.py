# SPDX-License-Identifier: Apache-2.0
"""Payloads that are estimated, on simulated arms that differ from their models, within the stated standard errors."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from real_arms import real_arm
from recordings import efforts, exciting_motion, recording
from robots import example_robots, mock_arm
from ros2_dyn.dynamics import rnea
from ros2_dyn.errors import InputError
from ros2_dyn.estimation.payload import estimate_payload
from ros2_dyn.estimation.state_windows import StateWindows, state_windows
from ros2_dyn.model import JointDynamics, Payload, RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.pseudo_inertia import is_consistent
from ros2_dyn_tools.recording.signals import EvenMotion, even_motion

RATE = 100.0
ARMS = ["mock arm", "panda_description/urdf/panda.urdf", "ur_description/urdf/ur5_robot.urdf"]
SPECK = np.array([0, 0, 0, 0, 1e-6, 0, 1e-6, 0, 0, 1e-6])
"""Inertia that makes a point mass a body."""
BOX = Payload(3.0, (0.03, -0.02, 0.08), np.diag([0.02, 0.025, 0.015]))


def arm(name: str) -> RobotModel:
    """Return a published arm, or the mock arm; its fingers are locked."""
    if name == ARMS[0]:
        return mock_arm()
    if not (example_robots() / name).is_file():
        pytest.skip("example-robot-data is not installed")
    model = RobotModel.from_urdf_file(example_robots() / name)
    return model.reduced([joint for joint in model.joint_names if "finger" not in joint])


def wrong(model: RobotModel, rng: np.random.Generator, friction: float = 0.015) -> RobotModel:
    """Return a robot whose bodies and friction the model does not know: masses by 10 %, friction by 1.5 % of limits."""
    bodies = [
        SpatialInertia.from_parameters(I.parameters * (1 + 0.1 * rng.normal()) + 1e-9 * np.eye(10)[0])
        for I in model.inertia
    ]
    scale = friction * model.effort_limit
    dynamics = {
        name: JointDynamics(viscous=v, coulomb=c, transition_velocity=0.005)
        for name, v, c in zip(model.joint_names, *(rng.uniform(0, 1, (2, model.n)) * scale))
    }
    return model.with_inertia(bodies).with_joint_dynamics(dynamics)


def random_payload(rng: np.random.Generator) -> Payload:
    """Return a body of some kg that is not far from the tip."""
    mass, sizes = rng.uniform(1, 5), rng.uniform(0.05, 0.15, 3)
    return Payload(mass, rng.uniform(-0.1, 0.1, 3), mass / 3 * np.diag(np.sum(sizes**2) - sizes**2))


def measured(model: RobotModel, motion: EvenMotion, payload: Payload | None, rng: np.random.Generator) -> StateWindows:
    """Return the windows of a motion with noise in efforts and velocities."""
    tau = efforts(model.carrying(payload), motion) + 0.002 * model.effort_limit * rng.normal(size=motion.q.shape)
    noisy = motion._replace(qd=motion.qd + 1e-3 * rng.normal(size=motion.q.shape))
    return state_windows(recording(noisy, tau))


def postures(model: RobotModel, count: int, rng: np.random.Generator) -> EvenMotion:
    """Return rest of 1 s in each of some postures, without the ways between them."""
    q = np.repeat(rng.uniform(-1.5, 1.5, (count, model.n)), int(RATE), axis=0)
    t = np.arange(len(q)) / RATE + np.repeat(np.arange(count), int(RATE))
    return EvenMotion(t, q, 0 * q, 0 * q, 0 * q)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("tared", [False, True], ids=["by the model", "tared"])
def test_mass_and_centre_lie_within_the_standard_errors_whatever_the_model_has_wrong(name, tared):
    model, errors = arm(name), []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        real, payload = wrong(model, rng), random_payload(rng)
        motion = exciting_motion(model, 8.0, RATE, seed)
        tare = measured(real, motion, None, rng) if tared else None
        found = estimate_payload(model, measured(real, motion, payload, rng), tare=tare)
        truth = np.array([payload.mass, *payload.com])
        errors.append((np.array([found.mass, *found.com]) - truth) / found.deviation[:4])
        assert found.tared == tared
        assert abs(found.mass - payload.mass) < (0.1 if tared else 0.8)
        assert is_consistent(found.parameters + SPECK)
    assert np.max(np.abs(errors)) < 4
    assert 0.1 < np.sqrt(np.mean(np.square(errors))) < 1.5  # neither too sure nor too cautious


@pytest.mark.parametrize("name", ARMS)
def test_payload_is_estimated_at_rest_in_several_postures_and_its_inertia_is_not(name):
    model, rng = arm(name), np.random.default_rng(5)
    found = estimate_payload(model, measured(model, postures(model, 20, rng), BOX, rng))
    error = np.array([found.mass - BOX.mass, *(np.array(found.com) - BOX.com)])
    assert np.all(np.abs(error) < 3 * np.array(found.deviation[:4]))
    assert not found.inertia_observed
    assert found.inertia == (0.0,) * 6
    assert np.all(np.isinf(found.deviation[4:]))
    assert "its inertia was not seen" in str(found)


def test_inertia_is_seen_where_the_arm_turns_fast():
    model, rng = mock_arm(), np.random.default_rng(2)
    large = Payload(4.0, (0.02, -0.03, 0.1), np.array([[0.15, 0.02, 0], [0.02, 0.2, 0.01], [0, 0.01, 0.12]]))
    slow = exciting_motion(model, 30.0, RATE / 3)
    motion = EvenMotion(slow.t / 3, slow.q, 3 * slow.qd, 9 * slow.qdd, slow.effort)
    found = estimate_payload(model, measured(model, motion, large, rng))
    assert found.inertia_observed
    truth = np.array(large.I_com)[np.triu_indices(3)]
    assert np.all(np.abs(found.inertia - truth) < 4 * np.array(found.deviation[4:]))
    assert np.max(np.abs(found.inertia - truth)) < 0.04
    assert is_consistent(found.parameters)


def test_payload_is_in_the_frame_of_its_link():
    model, rng = mock_arm(), np.random.default_rng(3)
    carried = Payload(2.0, (0.05, 0.0, 0.1), link="forearm_link")
    motion = exciting_motion(model, 8.0, RATE)
    tau = efforts(model.carrying(carried), motion)
    bare = state_windows(recording(motion, efforts(model, motion)))
    found = estimate_payload(model, state_windows(recording(motion, tau)), "forearm_link", tare=bare)
    assert_allclose([found.mass, *found.com], [2.0, 0.05, 0.0, 0.1], atol=0.05)
    with pytest.raises(InputError, match="fixed to the base"):
        estimate_payload(model, measured(model, motion, None, rng), "base_link")


def test_arm_that_carries_nothing_is_said_to_carry_nothing():
    model, rng = mock_arm(), np.random.default_rng(4)
    found = estimate_payload(model, measured(model, exciting_motion(model, 8.0, RATE), None, rng))
    assert found.mass == 0
    assert not np.any(found.parameters)
    assert "nothing is carried" in str(found)


def test_arm_that_lost_what_its_model_has_is_told_to_tare():
    model, rng = mock_arm(), np.random.default_rng(4)
    motion = exciting_motion(model, 8.0, RATE)
    with pytest.raises(InputError, match="less than in the model: tare it with nothing carried"):
        estimate_payload(model.carrying(BOX), measured(model, motion, None, rng))


def test_tare_takes_an_unknown_tool_out():
    """A tool that the model lacks counts as payload without tare, and does not with it."""
    model, rng = mock_arm(), np.random.default_rng(6)
    real, motion = model.carrying(Payload(2.0, (0.0, 0.0, 0.05))), exciting_motion(model, 8.0, RATE)
    loaded, bare = measured(real, motion, BOX, rng), measured(real, motion, None, rng)
    assert estimate_payload(model, loaded).mass == pytest.approx(5.0, abs=0.5)
    assert estimate_payload(model, loaded, tare=bare).mass == pytest.approx(3.0, abs=0.1)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda w: StateWindows(*(values[:3] for values in w)), "too few states came: 3 windows"),
        (lambda w: StateWindows(*(values[:30] for values in w)), "of 'tool0' was not seen: turn the wrist"),
        (lambda w: w._replace(effort=np.nan * w.effort), "effort: expected finite"),
        (lambda w: StateWindows(w.t, *(values[:, :4] for values in w[1:])), "4 joints, the robot has 6"),
    ],
    ids=["too few", "one posture", "no effort", "another robot"],
)
def test_motion_that_tells_nothing_is_refused_with_what_to_do(change, problem):
    model, rng = mock_arm(), np.random.default_rng(7)
    one = postures(model, 1, rng)
    still = EvenMotion(np.arange(400) / RATE, *(np.tile(x[:1], (400, 1)) for x in one[1:]))
    with pytest.raises(InputError, match=problem):
        estimate_payload(model, change(measured(model, still, BOX, rng)))


@pytest.mark.parametrize(("name", "mass", "centre"), [("panda", 0.1, 0.01), ("ur10", 0.25, 0.02)])
def test_body_that_is_added_to_a_recording_is_found_when_tared(name, mass, centre):
    """The efforts of a body of 3 kg are added to the last part of a real arm's; the first part is the tare."""
    model, bare = real_arm(name)
    motion = even_motion(bare)
    added = rnea(model.carrying(BOX), *motion[1:4]) - rnea(model, *motion[1:4])
    there = np.stack([np.interp(bare.t, motion.t, column) for column in added.T], axis=1)
    loaded = bare._replace(effort=bare.effort + there)
    tare = state_windows(bare.between(0.0, 0.35))
    found = estimate_payload(model, state_windows(loaded.between(0.7, 1.0)), tare=tare)
    assert abs(found.mass - BOX.mass) < min(mass, 3 * found.deviation[0])
    assert_allclose(found.com, BOX.com, atol=centre)
