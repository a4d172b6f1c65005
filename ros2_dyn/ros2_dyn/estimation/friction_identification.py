"""Identification of each joint's friction and rotor inertia from a recorded motion of a robot with known links."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ros2_dyn.dynamics import friction_regressor, rnea
from ros2_dyn.dynamics.friction_regressor import COLUMNS
from ros2_dyn.errors import InputError
from ros2_dyn.estimation.recording import Recording
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

VISCOUS, COULOMB, ARMATURE = 0, 1, 5
"""Indices of the identified parameters, in the order of `friction_parameters`."""


def smooth_motion(recording: Recording, cutoff: float = 10.0) -> tuple[Recording, Array]:
    """Resample a recording at equal steps, filter its velocities without delay, and differentiate them.

    Args:
        recording: the motion.
        cutoff: cut-off of the filter (Butterworth, forwards and backwards, 4th order in total), Hz.

    Returns:
        The new recording, and its accelerations, rad/s^2 or m/s^2, shape (m, n).

    Raises:
        InputError: the recording is too short.
    """
    from scipy.signal import butter, filtfilt  # here, because it takes half a second to import

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
    """Return the model with the viscous friction, Coulomb friction and armature that fit a recording best.

    The fit is linear least squares, bounded to nonnegative parameters, on the measured effort less that of the links.

    Args:
        model: the robot, with the joints in the recording's order.
        recording: the motion, with efforts in N m or N.
        transition_velocity: speed over which dry friction changes its sign, rad/s or m/s.

    Raises:
        InputError: the recording is too short.
    """
    from scipy.optimize import lsq_linear

    motion, qdd = smooth_motion(recording)
    rigid = {j.name: replace(j.dynamics, transition_velocity=transition_velocity, armature=0.0) for j in model.joints}
    links = model.with_joint_dynamics(rigid)
    excess = motion.effort - rnea(links, motion.q, motion.qd, qdd)
    Y = friction_regressor(links, motion.q, motion.qd, qdd)
    identified = {}
    for k, joint in enumerate(links.joints):
        columns = [COLUMNS * k + i for i in (VISCOUS, COULOMB, ARMATURE)]
        found = lsq_linear(Y[:, k, columns], excess[:, k], bounds=(0, np.inf)).x
        # Rounded, because YAML files of ROS do not take denormal numbers such as 1e-320.
        viscous, coulomb, armature = (round(float(x), 9) for x in found)
        identified[joint.name] = replace(joint.dynamics, viscous=viscous, coulomb=coulomb, armature=armature)
    return links.with_joint_dynamics(identified)
