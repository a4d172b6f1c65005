# SPDX-License-Identifier: Apache-2.0
"""The tip's friction: it sticks as on a spring, and slides against a constant force."""

from __future__ import annotations

from dataclasses import replace
from math import asin, atan2

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from control_states import SEVEN, made_up
from ros2_dyn.control.arm_state import ArmState, arm_state
from ros2_dyn.control.tip_friction import Anchor, TipFriction, tip_friction

STRONG = TipFriction(force=2.0, moment=0.3, slip=1e-3, turn=0.02, bandwidth=60.0, sticking=40.0)
J6 = np.random.default_rng(6).normal(size=(6, 6))


def turned(angle: float, axis) -> np.ndarray:
    """Return a rotation about an axis by Rodrigues' formula."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def at(position=(0, 0, 0), rotation=None, qd=0.0, mass=100.0) -> ArmState:
    """A heavy arm of six joints with its tip somewhere."""
    pose = np.eye(4)
    pose[:3, 3], pose[:3, :3] = position, np.eye(3) if rotation is None else rotation
    return made_up(mass * J6.T @ J6, qd=qd, J=J6, pose=pose)


def wrench(tau: np.ndarray) -> np.ndarray:
    """At the tip, that joint efforts are of."""
    return np.linalg.solve(J6.T, tau)


def test_sticking_tip_hangs_on_a_linear_spring():
    """Up to the slip it is pulled back in proportion; the anchor stays."""
    tau, _, anchor = tip_friction(at(), None, STRONG)
    assert_array_equal(tau, 0)
    assert_array_equal(anchor.position, 0)
    assert_array_equal(anchor.rotation, np.eye(3))
    for share in (0.3, -0.8, 0.999):
        bend = share * STRONG.slip * np.array([2.0, -1.0, 2.0]) / 3
        tau, _, after = tip_friction(at(bend), anchor, STRONG)
        assert_allclose(wrench(tau), [*-STRONG.force * bend / STRONG.slip, 0, 0, 0], rtol=0, atol=1e-10)
        assert_allclose(after.position, anchor.position, rtol=0, atol=1e-18)


def test_sliding_tip_meets_a_constant_force():
    """At most as great as given, whatever the distance; the anchor is dragged along behind, at the slip."""
    direction = np.array([2.0, -1.0, 2.0]) / 3
    *_, anchor = tip_friction(at(), None, STRONG)
    for way in np.arange(1, 50) * 0.3 * STRONG.slip:
        tau, _, anchor = tip_friction(at(way * direction), anchor, STRONG)
        held = min(way, STRONG.slip)
        assert_allclose(wrench(tau), [*-STRONG.force * held / STRONG.slip * direction, 0, 0, 0], rtol=0, atol=1e-10)
        assert_allclose(anchor.position, (way - held) * direction, rtol=0, atol=1e-15)
    back = way - 1.5 * STRONG.slip  # it turns round: the bristle straightens, and then bends to the other side
    tau, *_ = tip_friction(at(back * direction), anchor, STRONG)
    assert_allclose(wrench(tau)[:3], 0.5 * STRONG.force * direction, rtol=0, atol=1e-10)


def test_turning_tip_meets_a_moment_that_becomes_constant():
    """By small steps about any axis: as the sine of the angle up to the turn, constant then; the anchor follows."""
    axis, offset = np.array([1.0, 2.0, -2.0]) / 3, turned(1.0, (0.3, -0.5, 0.2))
    *_, anchor = tip_friction(at(rotation=offset), None, STRONG)
    most = asin(STRONG.turn)
    for angle in np.arange(1, 400) * 1e-3:
        tau, _, anchor = tip_friction(at(rotation=turned(angle, axis) @ offset), anchor, STRONG)
        behind = min(angle, most)
        moment = STRONG.moment * np.sin(behind) / STRONG.turn
        assert_allclose(wrench(tau), [0, 0, 0, *-moment * axis], rtol=0, atol=1e-10)
        assert_allclose(anchor.rotation, turned(angle - behind, axis) @ offset, rtol=0, atol=1e-12)


def test_anchor_of_a_loaded_tip_does_not_creep():
    """It stays where it is as long as the tip sticks, however often it is looked at: here for 4 s at 500 Hz."""
    bend, twist = 0.9 * STRONG.slip * np.array([0.0, 0.6, 0.8]), turned(0.9 * STRONG.turn, (1, 2, 3))
    anchor = Anchor(np.zeros(3), np.eye(3))
    state = at(bend, twist)
    first, *_ = tip_friction(state, anchor, STRONG)
    for _ in range(2000):
        last, _, anchor = tip_friction(state, anchor, STRONG)
    assert_allclose(last, first, rtol=0, atol=1e-9)
    assert_allclose(anchor.position, 0, atol=1e-15)
    assert_allclose(anchor.rotation, np.eye(3), rtol=0, atol=1e-12)


def test_sticking_tip_is_damped_and_sliding_tip_is_not():
    """Neither where only its position slides, nor where only its orientation does, nor where it is caught in motion."""
    slow = 1e-6 * np.arange(1.0, 7.0)
    anchor = Anchor(np.zeros(3), np.eye(3))
    stuck, slid = 0.5 * STRONG.slip * np.eye(3)[0], 2 * STRONG.slip * np.eye(3)[0]
    few, many = turned(0.5 * STRONG.turn, (1, 0, 0)), turned(2 * STRONG.turn, (1, 0, 0))
    for position, rotation, sticks in ((stuck, few, 1), (slid, few, 0), (stuck, many, 0), (slid, many, 0)):
        for qd in (slow, 1e3 * slow, 1e6 * slow):
            share = np.exp(-((np.linalg.norm(J6[:3] @ qd) / STRONG.creep) ** 2))
            held, rate, _ = tip_friction(at(position, rotation, qd), anchor, STRONG)
            assert_array_equal(held, tip_friction(at(position, rotation), anchor, STRONG)[0])
            assert_allclose(rate, share * sticks * STRONG.sticking, rtol=1e-9)


def test_stiffness_at_a_light_tip_is_limited_by_the_bandwidth():
    """``m bandwidth^2`` in the direction where the tip is lightest: of the smallest eigenvalue of a 3 by 3 inertia."""
    light = at((0.5 * STRONG.slip, 0, 0), turned(asin(0.5 * STRONG.turn), (0, 0, 1)))
    light = replace(light, M=J6.T @ np.diag([0.01, 0.02, 0.03, 1e-3, 2e-3, 3e-3]) @ J6 + 1e-4)
    mobility = light.J @ np.linalg.inv(light.M) @ light.J.T
    lightest = [np.linalg.eigvalsh(np.linalg.inv(mobility[part, part]))[0] for part in (slice(3), slice(3, 6))]
    k_linear, k_angular = np.array(lightest) * STRONG.bandwidth**2
    assert k_linear < STRONG.force / STRONG.slip
    assert k_angular < STRONG.moment / STRONG.turn
    tau, *_ = tip_friction(light, Anchor(np.zeros(3), np.eye(3)), STRONG)
    expected = [-k_linear * STRONG.slip / 2, 0, 0, 0, 0, -k_angular * STRONG.turn / 2]
    assert_allclose(wrench(tau), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_tip_friction_never_exceeds_its_force_and_moment(seed):
    """Along a random walk of a random arm's tip; nor is the anchor ever farther away than the bristle is long."""
    rng = np.random.default_rng(seed)
    q, anchor, model = rng.uniform(-1, 1, 7), None, SEVEN
    friction = STRONG._replace(sticking=0.0)
    for _ in range(100):
        q = q + rng.normal(size=7) * 2e-3
        state = arm_state(model, q, np.zeros(7))
        tau, _, anchor = tip_friction(state, anchor, friction)
        at_tip = np.linalg.lstsq(state.J.T, tau, rcond=None)[0]
        assert np.linalg.norm(at_tip[:3]) <= friction.force * (1 + 1e-9)
        assert np.linalg.norm(at_tip[3:]) <= friction.moment * (1 + 1e-9)
        gap = np.linalg.norm(state.pose[:3, 3] - anchor.position)
        twist = state.pose[:3, :3].T @ anchor.rotation
        axial = np.array([twist[2, 1] - twist[1, 2], twist[0, 2] - twist[2, 0], twist[1, 0] - twist[0, 1]]) / 2
        angle = atan2(float(np.linalg.norm(axial)), (np.trace(twist) - 1) / 2)
        assert gap <= friction.slip * (1 + 1e-9)
        assert angle <= asin(friction.turn) * (1 + 1e-9)
        assert_allclose(anchor.rotation @ anchor.rotation.T, np.eye(3), rtol=0, atol=1e-12)
