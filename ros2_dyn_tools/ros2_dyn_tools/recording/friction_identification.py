# SPDX-License-Identifier: Apache-2.0
"""Identification of each joint's friction and rotor inertia from a recorded motion of a robot with known links."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics import friction_regressor, rnea
from ros2_dyn.dynamics.friction_regressor import COLUMNS
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.recording.signals import MIN_STATES, EvenMotion, even_motion, unbroken

VISCOUS, COULOMB, ARMATURE = 0, 1, 5
"""Indices of the identified parameters, in the order of `friction_parameters`."""


def identify_friction(
    model: RobotModel, recording: Recording, transition_velocity: float = 0.05, gravity: ArrayLike | None = None
) -> RobotModel:
    """Return the model with the viscous friction, Coulomb friction and armature that fit a recording best.

    The fit is linear least squares, bounded to nonnegative parameters, on the measured effort less that of the links.
    What wrong masses of the links make of the effort is part of that, too. Where it is greater than friction, as in the
    inner joints of a light arm, the friction found is wrong: use `ros2_dyn_tools.identification` there.

    Args:
        model: the robot, with the joints in the recording's order.
        recording: the motion, with efforts in N m or N; gaps in it are left out.
        transition_velocity: speed over which dry friction changes its sign, rad/s or m/s.
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,); standard gravity along -z for None.

    Raises:
        InputError: no part of the recording without a gap is long enough.
    """
    from scipy.optimize import lsq_linear

    motions = [even_motion(part) for part in unbroken(recording)]
    if not motions:
        raise InputError("recording", f"expected at least {MIN_STATES} states without a gap, got {len(recording.t)}")
    q, qd, qdd, effort = (np.concatenate([getattr(each, key) for each in motions]) for key in EvenMotion._fields[1:])
    rigid = {j.name: replace(j.dynamics, transition_velocity=transition_velocity, armature=0.0) for j in model.joints}
    links = model.with_joint_dynamics(rigid)
    excess = links.drives.efforts(effort - rnea(links, q, qd, qdd, gravity))
    Y = friction_regressor(links, q, qd, qdd)
    identified = {}
    for k, joint in enumerate(links.joints):
        columns = [COLUMNS * k + i for i in (VISCOUS, COULOMB, ARMATURE)]
        found = lsq_linear(Y[:, k, columns], excess[:, k], bounds=(0, np.inf)).x
        # Rounded, because YAML files of ROS do not take denormal numbers such as 1e-320.
        viscous, coulomb, armature = (round(float(x), 9) for x in found)
        identified[joint.name] = replace(joint.dynamics, viscous=viscous, coulomb=coulomb, armature=armature)
    return links.with_joint_dynamics(identified)
