# SPDX-License-Identifier: Apache-2.0
"""Differences of a real arm from its model: other inertias and friction, and quantised measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError
from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.link_spec import LinkSpec
from ros2_dyn.model.spatial import Array


def perturbed(
    model: RobotModel, rng: np.random.Generator, inertia_error: float = 0.0, friction_error: float = 0.0
) -> RobotModel:
    """Return the robot with other inertias and friction, within relative errors.

    One factor each scales the mass, the centre of mass and the rotational inertia about it of a link, and the viscous
    and the dry friction of a joint. Scaling by a positive factor keeps an inertia physically valid.

    Args:
        model: the robot.
        rng: source of the factors; for one seed they deviate in the same direction whatever the errors.
        inertia_error: factors of inertia are uniform in 1 - error to 1 + error; from 0 to below 1.
        friction_error: factors of friction are uniform in 1 - error to 1 + error; from 0 to below 1.

    Raises:
        InputError: an error is not in its range.
    """
    for name, error in (("inertia_error", inertia_error), ("friction_error", friction_error)):
        if not 0 <= error < 1:
            raise InputError(name, f"expected a number from 0 to below 1, got {error}")
    branches = []
    for branch in model.link_specs:
        factors = rng.uniform(-1, 1, 5)
        branches.append(_perturbed_link(branch, 1 + inertia_error * factors[:3], 1 + friction_error * factors[3:]))
    return RobotModel.from_links(model.name, branches)


def with_friction(
    model: RobotModel, viscous: Sequence[float] | None = None, coulomb: Sequence[float] | None = None
) -> RobotModel:
    """Return the robot with other friction.

    Args:
        model: the robot.
        viscous: viscous friction of the joints in the model's order, N m s/rad or N s/m, shape (n,); None: unchanged.
        coulomb: Coulomb friction of the joints in the model's order, N m or N, shape (n,); None: unchanged.

    Raises:
        InputError: there is not one number for each joint, or one is negative or not finite.
    """
    return _with_numbers(model, viscous_friction=viscous, coulomb_friction=coulomb)


def with_armature(model: RobotModel, armature: Sequence[float] | None = None) -> RobotModel:
    """Return the robot with other rotor inertias.

    Args:
        model: the robot.
        armature: inertia of each joint's rotor, times the gear ratio squared, in the model's order, kg m^2 or kg, shape
            (n,); None: unchanged.

    Raises:
        InputError: there is not one number for each joint, or one is negative or not finite.
    """
    return _with_numbers(model, armature=armature)


def quantise(values: ArrayLike, resolution: float) -> Array:
    """Return the multiples of the resolution nearest to the values, or the values where the resolution is 0."""
    values = np.asarray(values, dtype=float)
    return resolution * np.rint(values / resolution) if resolution > 0 else values


def _perturbed_link(branch: LinkSpec, inertia: Array, friction: Array) -> LinkSpec:
    I = branch.inertia
    scaled = SpatialInertia.from_com(float(inertia[0] * I.mass), inertia[1] * I.com, inertia[2] * I.I_com)
    joint = branch.joint and replace(
        branch.joint, dynamics=_perturbed_friction(branch.joint.dynamics, *friction.tolist())
    )
    return branch._replace(inertia=scaled, joint=joint)


def _perturbed_friction(drive: JointDynamics, viscous: float, dry: float) -> JointDynamics:
    static = None if drive.static is None else dry * drive.static
    return replace(drive, viscous=viscous * drive.viscous, coulomb=dry * drive.coulomb, static=static)


def _with_numbers(model: RobotModel, **given: Sequence[float] | None) -> RobotModel:
    """Return the robot with some of its joint parameters replaced, by the names of the parameters."""
    drives = {joint.name: joint.dynamics for joint in model.joints if joint.mimics is None and joint.dof == 1}
    for name, numbers in given.items():
        if numbers is not None and len(numbers) > 0:
            if len(numbers) != len(drives):
                raise InputError(name, f"expected {len(drives)} numbers, got {len(numbers)}")
            fields: list[dict[str, Any]] = [{name.removesuffix("_friction"): number} for number in numbers]
            drives = {joint: replace(drive, **own) for (joint, drive), own in zip(drives.items(), fields)}
    return model.with_joint_dynamics(drives)
