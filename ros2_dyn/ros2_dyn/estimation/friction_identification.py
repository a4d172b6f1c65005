"""Friction and rotor inertia of each joint from a recorded motion, for a robot whose links are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import lsq_linear
from scipy.signal import butter, filtfilt

from ros2_dyn.dynamics import friction_regressor, rnea
from ros2_dyn.errors import InputError
from ros2_dyn.estimation.recording import Recording
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

VISCOUS, COULOMB, ARMATURE = 0, 1, 5
"""Which of the six parameters of `JointDynamics` are fitted."""


def smooth_motion(recording: Recording, cutoff: float = 10.0) -> tuple[Recording, Array]:
    """The recording at equal steps, its velocities low-passed without delay, and their derivatives.

    Args:
        recording: the motion.
        cutoff: of the filter (Butterworth, 4th order in all, forwards and backwards), Hz.

    Returns:
        the recording, and accelerations, rad/s^2 or m/s^2, shape (m, n).

    Raises:
        InputError: it is too short.
    """
    if len(recording.t) < 50:
        raise InputError("recording", f"expected at least 50 states, got {len(recording.t)}")
    dt = float(np.median(np.diff(recording.t)))
    t = np.arange(recording.t[0], recording.t[-1], dt)
    q, qd, effort = (
        np.stack([np.interp(t, recording.t, column) for column in table.T], axis=1) for table in recording[1:]
    )
    b, a = butter(2, min(cutoff, 0.4 / dt) * 2 * dt)
    qd = filtfilt(b, a, qd, axis=0)
    return Recording(t, q, qd, effort), np.gradient(qd, dt, axis=0)


def identify_friction(model: RobotModel, recording: Recording, transition_velocity: float = 0.05) -> RobotModel:
    """The model with the viscous and Coulomb friction and the armature that explain a recording best.

    Linear least squares on what the measured effort exceeds that of the links, with numbers that are not negative.

    Args:
        model: the robot, in the order of the recording's joints.
        recording: measured efforts in N m or N.
        transition_velocity: over which dry friction changes its sign, rad/s or m/s.

    Raises:
        InputError: the recording is too short.
    """
    motion, qdd = smooth_motion(recording)
    bent = {j.name: replace(j.dynamics, transition_velocity=transition_velocity, armature=0.0) for j in model.joints}
    links = model.with_joint_dynamics(bent)
    excess = motion.effort - rnea(links, motion.q, motion.qd, qdd)
    Y = friction_regressor(links, motion.q, motion.qd, qdd)
    identified = {}
    for k, joint in enumerate(links.joints):
        columns = [6 * k + i for i in (VISCOUS, COULOMB, ARMATURE)]
        found = lsq_linear(Y[:, k, columns], excess[:, k], bounds=(0, np.inf)).x
        viscous, coulomb, armature = (round(float(x), 9) for x in found)  # no 1e-320, which YAML files of ROS refuse
        identified[joint.name] = replace(joint.dynamics, viscous=viscous, coulomb=coulomb, armature=armature)
    return links.with_joint_dynamics(identified)
