# SPDX-License-Identifier: Apache-2.0
"""A robot with fewer inertial parameters and the same efforts (Gautier and Khalil 1990; Khalil and Dombre 2002, 9.4).

A part of a body's inertia that does not change when the body turns about its joint, and that has no angular momentum
about it, is carried in the same way by the body before the joint. It is moved there: 3 of 10 parameters of a body
behind a revolute joint become zero, 6 behind a prismatic one. What arrives at the base drops out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.joint import Joint
from ros2_dyn.model.spatial import Array

REVOLUTE = ("revolute", "continuous")


def regroup_inertia(model: RobotModel, gravity: ArrayLike | None = None) -> RobotModel:
    """Return a robot with as many zeros among its inertial parameters as this gives, and the same joint efforts.

    Its bodies may be such as do not exist: without mass, for example. Joint wrenches and potential energy differ; what
    follows from efforts does not: mass matrix, Coriolis matrix, forward dynamics, derivatives.

    Args:
        model: the robot.
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,), if it never changes: bodies that turn
            about its direction alone have no weight then. None: any.
    """
    inertia = list(model.inertia)
    for i in reversed(range(len(model.joints))):
        joint, parent, X = model.joints[i], model.lambda_[i], model.X_tree[i]
        if parent == BASE:
            inertia[i] = _of_first_body(inertia[i], joint, None if gravity is None else X.E @ np.asarray(gravity))
        else:
            moved = _common_part(inertia[i], joint)
            inertia[i] = _difference(inertia[i], moved)
            inertia[parent] = inertia[parent] + moved.in_parent(X)
    return model.with_inertia(inertia)


def _common_part(I: SpatialInertia, joint: Joint) -> SpatialInertia:
    """Return what the body before a joint can carry of an inertia behind it."""
    if joint.type == "prismatic":
        return SpatialInertia(np.zeros(()), np.zeros(3), I.I_origin)
    if joint.type not in REVOLUTE:
        return SpatialInertia.zero()
    along = np.outer(joint.axis, joint.axis)
    across = np.eye(3) - along
    k = int(np.argmax(np.diag(across)))
    return SpatialInertia(I.mass, along @ I.h, across * (I.I_origin[k, k] / across[k, k]))


def _of_first_body(I: SpatialInertia, joint: Joint, gravity: Array | None) -> SpatialInertia:
    """Return what matters of a body that only moves against the base, with gravity in the joint's axes."""
    if joint.type == "prismatic":
        return SpatialInertia(I.mass, np.zeros(3), np.zeros((3, 3)))
    if joint.type not in REVOLUTE:
        return I
    along = np.outer(joint.axis, joint.axis)
    weightless = gravity is not None and bool(np.allclose(np.cross(gravity, joint.axis), 0.0, atol=1e-12))
    h = np.zeros(3) if weightless else I.h - along @ I.h
    return SpatialInertia(np.zeros(()), h, along * (joint.axis @ I.I_origin @ joint.axis))


def _difference(a: SpatialInertia, b: SpatialInertia) -> SpatialInertia:
    return SpatialInertia(np.asarray(a.mass - b.mass), a.h - b.h, a.I_origin - b.I_origin)
