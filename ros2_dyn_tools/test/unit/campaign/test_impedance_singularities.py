# SPDX-License-Identifier: Apache-2.0
"""Mode impedance through wrist and elbow singularities in virtual time, judged by the motion of the tip."""

from __future__ import annotations

from math import atan2, pi, sqrt

import numpy as np
import pytest

from light_arms import Held, light
from ros2_dyn.control.cartesian_impedance import displacement
from ros2_dyn.dynamics import forward_kinematics, jacobian, mass_matrix, singular_values
from ros2_dyn.model import RobotModel
from tiers import part

STIFF = {"impedance.stiffness": [2000.0] * 3 + [50.0] * 3, "commands.max_tip_speed": 0.5}
SIX_WRIST = ("mock_arm", [0.0, -1.2, 1.4, -1.8, -0.5, 0.0], [0.5, -1.2, 1.4, -1.8, 0.5, 0.0])
SIX_ELBOW = ("mock_arm", [0.0, -1.2, 0.5, -1.8, -1.57, 0.0], [0.0, -1.2, -0.5, -1.8, -1.57, 0.0])


@pytest.mark.parametrize(("name", "start", "end"), part([SIX_WRIST, SIX_ELBOW], 0), ids=str)
def test_tip_goes_through_singularities_at_a_tenth_of_a_metre_per_second(name, start, end):
    """The desired pose is that of joints that move evenly. The damper lets the tip lag, by some 10 ms per rad/s."""
    arm = light(name)
    a, b = np.array(start), np.array(end)
    ways = [forward_kinematics(arm, a + s * (b - a))[:3, 3] for s in np.linspace(0, 1, 100)]
    duration = max(0.5, float(np.sum(np.linalg.norm(np.diff(ways, axis=0), axis=1))) / 0.1)
    desired = lambda t: forward_kinematics(arm, a + min(max((t - 1) / duration, 0.0), 1.0) * (b - a))  # noqa: E731
    held = Held(name, start, desired, **STIFF)
    held.world.run(2.0 + duration)
    _, error, speed, sigma = np.array(held.samples).T
    print(f"{name}: largest error {1e3 * error.max():.1f} mm, at the end {1e3 * error[-1]:.2f} mm, {duration:.1f} s")
    assert held.world.node.mode == "impedance", held.world.node.runtime.reason
    assert sigma.min() < 0.02 < sigma.max()
    assert error.max() < 0.025
    assert error[-1] < 2e-3
    assert speed.max() < 0.15


# --- a seven-axis arm, along straight lines

BEGIN = 0.5
"""When it begins to move, s."""
SPEED = 0.1
"""Of the desired pose, m/s."""
K = 2000.0
"""Stiffness of the tip, N/m."""
DAMPING = 0.8
"""Its damping ratio."""
ELBOW = -atan2(0.0825, 0.316) - atan2(0.0825, 0.384)
"""Position of the fourth joint of a Panda at which shoulder, elbow and wrist are in line, rad: offset and lengths."""


def mass_along(arm: RobotModel, q: np.ndarray, direction: np.ndarray) -> float:
    """Return the mass of a tip that is accelerated along a direction (3,) and not turned, kg (Khatib 1987)."""
    J = jacobian(arm, q)
    inertia = np.linalg.inv(J @ np.linalg.solve(mass_matrix(arm, q), J.T))
    return float(direction @ inertia[:3, :3] @ direction)


def lag(mass: float) -> float:
    """Return how far a mass on a spring and its damper lags behind it when it moves evenly, m: ``2 zeta v / omega``."""
    return 2 * DAMPING * SPEED * sqrt(mass / K)


def reaching(arm: RobotModel, pose: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return joint positions (7,) near q at which the tip has a pose (4, 4), by damped Newton steps."""
    for _ in range(100):
        J = jacobian(arm, q)
        x = displacement(forward_kinematics(arm, q), pose).x
        q = q - J.T @ np.linalg.solve(J @ J.T + 1e-5 * np.eye(6), x)
    assert np.max(np.abs(displacement(forward_kinematics(arm, q), pose).x)) < 1e-6
    return q


def on_line(pose: np.ndarray, direction: np.ndarray, s: float) -> np.ndarray:
    """Return a pose that is moved along a direction, m, and not turned."""
    moved = pose.copy()
    moved[:3, 3] += s * direction
    return moved


def test_seven_axis_arm_goes_through_its_wrist_singularity_as_fast_as_elsewhere():
    """A fifth joint at a right angle and a sixth at about half a turn take a direction, which lies across the line.

    The tip therefore lags as far as the mass along the line lets it: `lag` at the beginning, where nothing is lost.
    """
    arm, line, half = light("panda"), np.array([0.0, 1.0, 0.0]), 0.05
    singular = np.array([0.0, -0.3, 0.5, -2.0, pi / 2, 3.36426348, 0.78])
    assert singular_values(jacobian(arm, singular))[-1] < 1e-6
    pose = forward_kinematics(arm, singular)
    start = singular
    for s in np.linspace(0, half, 11):
        start = reaching(arm, on_line(pose, line, -s), start)
    desired = lambda t: on_line(pose, line, float(np.clip((t - BEGIN) * SPEED - half, -half, half)))  # noqa: E731
    held = Held("panda", start.tolist(), desired, **STIFF)
    held.world.run(BEGIN + 2 * half / SPEED + 0.3)
    _, error, speed, sigma = np.array(held.samples).T
    expected = lag(mass_along(arm, start, line))
    print(f"largest error {1e3 * error.max():.1f} mm, expected {1e3 * expected:.1f} mm, sigma {sigma.min():.4f}")
    assert held.world.node.mode == "impedance", held.world.node.runtime.reason
    assert sigma.min() < 0.01 < 0.03 < sigma.max()
    assert error.max() < 1.25 * expected
    assert error[-1] < 2e-3
    assert speed.max() < 1.25 * SPEED


def test_seven_axis_arm_stretches_its_elbow_and_bends_it_again():
    """The desired pose goes 2 cm beyond the reach of the arm, rests, and comes back along the line to the shoulder.

    At a distance x before the edge of the reach, the mass along the line is ``m0 x0 / x`` at most. The spring has to
    overcome its damper, ``x' = -(x - x_d) (v / a) sqrt(x)`` with ``a = lag(m0) sqrt(x0)``. So the tip lags by
    ``a^(2/3)`` at most on the way out, and by 1.30 times that on the way back, which begins at x = 0: the largest value
    of ``T - Y^2`` for ``Y' = (T - Y^2) / 2``.
    """
    arm, way, beyond, rest = light("panda"), 0.06, 0.02, 0.4
    stretched = np.array([0.0, -0.5, 0.0, ELBOW, 0.0, 1.5, 0.78])
    assert singular_values(jacobian(arm, stretched))[-1] < 1e-6
    wrist = forward_kinematics(arm, stretched, "panda_link6")[:3, 3]
    line = wrist - forward_kinematics(arm, stretched, "panda_link2")[:3, 3]
    line /= np.linalg.norm(line)
    pose = forward_kinematics(arm, stretched)
    bend = np.array([0.0, -0.3, 0.0, -0.5, 0.0, 0.2, 0.0])
    bent = reaching(arm, on_line(pose, line, -way), stretched + bend)
    out = (way + beyond) / SPEED

    def desired(t: float) -> np.ndarray:
        s = SPEED * float(np.clip(min(t - BEGIN, BEGIN + 2 * out + rest - t), 0.0, out))
        return on_line(pose, line, s - way)

    held = Held("panda", bent.tolist(), desired, 250.0, **{"commands.max_force": 100.0}, **STIFF)
    held.world.run(BEGIN + 2 * out + rest + 0.4)
    t, error, _, sigma = np.array(held.samples).T
    scale = (lag(mass_along(arm, bent, line)) * sqrt(way)) ** (2 / 3)
    back = t > BEGIN + out + rest + beyond / SPEED
    within = t < BEGIN + way / SPEED
    largest = [1e3 * error[part].max() for part in (within, ~(within | back), back)]
    print(f"largest errors {np.round(largest, 1)} mm: inside, beyond the edge, back; scale {1e3 * scale:.1f} mm")
    assert held.world.node.mode == "impedance", held.world.node.runtime.reason
    assert sigma.min() < 1e-3 < 0.1 < sigma.max()
    assert np.all(error[within] < scale)
    assert np.all(error < scale + beyond)
    assert np.all(error[back] < 1.3 * scale)
    assert error[-1] < lag(mass_along(arm, bent, line))
