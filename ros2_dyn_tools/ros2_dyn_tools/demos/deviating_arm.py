# SPDX-License-Identifier: Apache-2.0
"""The arm of the demo `identify` as it really is: other bodies than its URDF says, friction, and rotors."""

from __future__ import annotations

from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn.model.inertia import SpatialInertia

MASS = (1.2, 1.3, 0.75, 1.3, 1.25, 1.4)
"""Mass of each link, as a multiple of that of the URDF."""
COM = (1.2, 1.15, 1.25, 0.8, 1.3, 0.7)
"""Centre of mass of each link, as a multiple of that of the URDF."""
ROTATIONAL = (1.3, 1.2, 1.4, 0.8, 1.3, 1.2)
"""Rotational inertia of each link about its centre of mass, as a multiple of that of the URDF."""
VISCOUS = (9.0, 9.0, 6.0, 1.2, 1.0, 0.9)
"""N m s/rad."""
COULOMB = (6.0, 7.0, 4.0, 1.4, 1.2, 1.0)
"""N m."""
LOAD = (0.0, 0.08, 0.08, 0.05, 0.0, 0.0)
"""Friction that the weight of the arm adds, as a share of the effort of gravity."""
PRESLIDING = (2.0, 2.5, 1.5, 0.5, 0.4, 0.3)
"""Effort of the spring that a joint has to stretch before it slips, N m."""
SLIP_DISTANCE = 0.02
"""Displacement at which these springs slip, rad."""
OFFSET = (0.8, -1.0, 0.5, 0.1, -0.1, 0.1)
"""Friction that differs by direction, N m."""
ARMATURE = (0.7, 0.8, 0.4, 0.08, 0.06, 0.06)
"""Rotor inertias as seen from the joints, kg m^2."""
TRANSITION_VELOCITY = 0.05
"""Speed over which dry friction changes its sign, rad/s."""


def deviating_arm(model: RobotModel) -> RobotModel:
    """Return the arm as it really is, from the six-axis arm of its URDF."""
    numbers = zip(model.joint_names, VISCOUS, COULOMB, LOAD, PRESLIDING, OFFSET, ARMATURE)
    drives = {
        name: JointDynamics(
            viscous=viscous,
            coulomb=coulomb,
            load=load,
            presliding=((SLIP_DISTANCE, spring),),
            offset=offset,
            armature=armature,
            transition_velocity=TRANSITION_VELOCITY,
        )
        for name, viscous, coulomb, load, spring, offset, armature in numbers
    }
    bodies = [
        SpatialInertia.from_com(mass * float(body.mass), com * body.com, rotational * body.I_com)
        for body, mass, com, rotational in zip(model.inertia, MASS, COM, ROTATIONAL)
    ]
    return model.with_inertia(bodies).with_joint_dynamics(drives)
