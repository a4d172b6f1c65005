# SPDX-License-Identifier: Apache-2.0
"""The arms of random worlds: nominal models, and variants that differ from them as real arms do.

The pool of one process keeps what it has made, so that its kernels are compiled once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

import numpy as np

import ros2_dyn
from ros2_dyn.dynamics import gravity, jacobian, singular_values
from ros2_dyn.dynamics.inputs import STANDARD_GRAVITY
from ros2_dyn.errors import InputError
from ros2_dyn.model import BASE, JointDynamics, Payload, RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.link_spec import LinkSpec
from ros2_dyn.model.mount import upright
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.mode_entry_checks import missing_limit
from ros2_dyn.runtime.parameter_files import Arm, read_arm
from ros2_dyn.simulation.perturbed import perturbed

OWN_ARM = "mock_arm"
"""The arm of this package."""
ARMS: dict[str, tuple[str, int | tuple[str, ...]]] = {
    "ur3": ("ur_description/urdf/ur3_robot.urdf", 6),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", 6),
    "ur10": ("ur_description/urdf/ur10_robot.urdf", 6),
    "panda": ("panda_description/urdf/panda.urdf", 7),
    "kinova": ("kinova_description/robots/kinova.urdf", 6),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", 7),
    "z1": ("z1_description/urdf/z1.urdf", 6),
    "so101": ("so_arm_description/urdf/so101.urdf", 5),
    "centauro": ("centauro_description/urdf/centauro.urdf", ("j_arm1_",)),
    "romeo": ("romeo_description/urdf/romeo_small.urdf", ("LShoulder", "LElbow", "LWrist")),
    "tiago": ("tiago_description/robots/tiago.urdf", ("arm_",)),
    "tiago_pro": ("tiago_pro_description/robots/tiago_pro.urdf", ("arm_left_",)),
}
"""Arms of example-robot-data whose motors hold them in every pose: file, and the number of joints from the base, or how
the names of the joints begin.
"""
MOTORS = {"ur3": (56.0, 56.0, 28.0, 12.0, 12.0, 12.0), "so101": (2.9,) * 5}
"""What motors exert, N m, by their makers, where a description has other limits: those of a UR10, and 10 N m."""
VARIANTS = 4
"""Number of variants of each arm."""
MAX_GRAVITY_FRACTION = 0.5
"""At home no joint needs more than this fraction of its effort limit against gravity."""


class UserArm(NamedTuple):
    """A user's own arm, by its files."""

    urdf: str
    parameters: str = ""
    """Parameter file of the node; empty: none."""


class Variant(NamedTuple):
    """A real arm and what is known of it."""

    arm: RobotModel
    """The arm as it is."""
    description: RobotModel
    """The model that the node is given."""
    payload: Payload | None
    """What the arm carries and the description lacks."""
    bare: RobotModel
    """The arm as it is without its payload."""


def example_robots() -> Path | None:
    """Return the folder of the robots of example-robot-data; None where it is not installed."""
    try:
        folder = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    except PackageNotFoundError:
        return None
    path = Path(str(folder))
    return path if path.is_dir() else None


def arm_names() -> tuple[str, ...]:
    """Return the arms that are installed."""
    folder = example_robots()
    others = () if folder is None else tuple(name for name, (file, _) in ARMS.items() if (folder / file).is_file())
    return (OWN_ARM, *others)


@lru_cache(maxsize=4)
def read_user_arm(user: UserArm) -> Arm:
    """Return a user's own arm, upright as all are, with typical friction and rotors where its files have none.

    Raises:
        ModelError: the URDF is wrong.
        InputError: the parameter file is wrong, or does not fit the URDF, or a joint lacks a limit.
    """
    model, settings = read_arm(user.urdf, user.parameters or None)
    if (missing := missing_limit(model)) is not None:
        needed = "needs an effort limit and a velocity limit: add <limit> in the URDF"
        raise InputError("arm", f"joint '{missing.joint}' {needed}")
    known = any(joint.dynamics != JointDynamics() for joint in model.joints)
    model = upright(model, settings.robot.gravity)
    settings = settings.with_values({"robot": {"gravity": STANDARD_GRAVITY}})
    return Arm(model if known else _with_typical_drives(model), settings)


@lru_cache(maxsize=32)
def nominal_arm(name: str | UserArm) -> RobotModel:
    """Return an arm with typical friction and rotors, or a user's own one.

    Raises:
        ModelError: a URDF is wrong.
        InputError: the arm is not installed, or as `read_user_arm`.
    """
    if isinstance(name, UserArm):
        return read_user_arm(name).model
    model = _described(name)
    return _with_typical_drives(with_effort_limits(model, dict(zip(model.joint_names, MOTORS.get(name, ())))))


def _described(name: str) -> RobotModel:
    """Return an arm as its description has it."""
    if name == OWN_ARM:
        return RobotModel.from_urdf_file(_own_urdf())
    folder = example_robots()
    if folder is None or name not in ARMS:
        raise InputError("arm", f"expected one of {', '.join(arm_names())}, got '{name}'")
    file, joints = ARMS[name]
    whole = RobotModel.from_urdf_file(folder / file)
    return _without_fixed_links(whole.reduced(_joints_of_arm(whole, joints)))


def _with_typical_drives(model: RobotModel) -> RobotModel:
    limit = model.effort_limit.tolist()
    typical = {
        joint: JointDynamics(viscous=0.03 * x, coulomb=0.04 * x, armature=2e-3 * x)
        for joint, x in zip(model.joint_names, limit)
    }
    return model.with_joint_dynamics(typical)


def with_friction(model: RobotModel, share: float) -> RobotModel:
    """Return a robot with a multiple of its friction."""
    drives = {each.name: each.dynamics for each in model.joints if each.mimics is None}
    changed = {k: replace(d, coulomb=share * d.coulomb, viscous=share * d.viscous) for k, d in drives.items()}
    return model.with_joint_dynamics(changed)


def with_effort_limits(model: RobotModel, limits: Mapping[str, float]) -> RobotModel:
    """Return a robot with other effort limits of some joints, N m or N, by their names."""
    links = [
        link._replace(joint=replace(link.joint, effort_limit=limits[link.joint.name]))
        if link.joint and link.joint.name in limits
        else link
        for link in model.link_specs
    ]
    return RobotModel.from_links(model.name, links)


def _joints_of_arm(whole: RobotModel, joints: int | tuple[str, ...]) -> tuple[str, ...]:
    if isinstance(joints, int):
        return whole.joint_names[:joints]
    return tuple(name for name in whole.joint_names if name.startswith(joints))


def _without_fixed_links(model: RobotModel) -> RobotModel:
    """Return the same robot, of which only moving links and the tip are known by name; its models are made faster."""
    child, tip = model.child_links, model.link_frame(model.default_tip)
    specs = [model.link_specs[0]]
    for i, (joint, parent, X, inertia) in enumerate(zip(model.joints, model.lambda_, model.X_tree, model.inertia)):
        specs.append(LinkSpec(child[i], model.base_link if parent == BASE else child[parent], X, joint, inertia))
    if model.default_tip not in child:
        specs.append(LinkSpec(model.default_tip, child[tip.body], tip.X, None, SpatialInertia.zero()))
    return RobotModel.from_links(model.name, specs)


@lru_cache(maxsize=256)
def variant(name: str | UserArm, number: int) -> Variant:
    """Return one of the `VARIANTS` of an arm; equal numbers give equal variants.

    The first is the nominal arm itself. Inertias of the others differ by up to 10 %, friction by up to 50 %. Some carry
    a payload that the description lacks, and some descriptions lack friction. Effort limits are those of the file.
    """
    nominal = nominal_arm(name)
    description = nominal
    if name in MOTORS:
        limits = {joint.name: joint.effort_limit for joint in _described(name).joints}
        description = with_effort_limits(nominal, limits)
    if number == 0:
        return Variant(nominal, description, None, nominal)
    own = nominal.name if isinstance(name, UserArm) else name
    rng = np.random.default_rng([number, *own.encode()])
    arm = perturbed(nominal, rng, float(rng.uniform(0, 0.1)), float(rng.uniform(0, 0.5)))
    bare, payload = arm, None
    if number % 2:
        mass = float(rng.uniform(0.05, 0.15) * np.max(nominal.effort_limit) / 9.81)
        payload = Payload(mass, rng.uniform(-0.05, 0.05, 3).tolist(), link=nominal.default_tip)
        arm = arm.carrying(payload)
    if number % 3 == 2:
        rotors = {joint.name: JointDynamics(armature=joint.dynamics.armature) for joint in nominal.joints}
        description = description.with_joint_dynamics(rotors)
    return Variant(arm, description, payload, bare)


def load_of(model: RobotModel, q: Array) -> Array:
    """Return the largest share of a joint's effort limit that gravity takes, shape (...), at q, rad or m, (..., n)."""
    return np.max(np.abs(gravity(model, q)) / model.effort_limit, axis=-1)


@lru_cache(maxsize=256)
def heaviest_load(model: RobotModel) -> float:
    """Return the largest share of a joint's effort limit that gravity takes in a thousand poses."""
    lower, upper = np.maximum(model.lower, -np.pi), np.minimum(model.upper, np.pi)
    poses = lower + (upper - lower) * np.random.default_rng(0).random((1000, model.n))
    return float(np.max(load_of(model, poses)))


def random_home(model: RobotModel, rng: np.random.Generator) -> Array:
    """Return joint positions at which the arm is far from its limits and from singularities, rad or m, shape (n,)."""
    lower, upper = np.maximum(model.lower, -2.5), np.minimum(model.upper, 2.5)
    centre, half = (lower + upper) / 2, 0.35 * (upper - lower)
    best, best_value = centre, -np.inf
    for _ in range(30):
        q = centre + half * rng.uniform(-1, 1, model.n)
        load = float(load_of(model, q))
        sigma = float(singular_values(jacobian(model, q))[-1])
        if load < MAX_GRAVITY_FRACTION and sigma > 0.08:
            return q
        value = sigma - max(0.0, load - MAX_GRAVITY_FRACTION)
        if value > best_value:
            best, best_value = q, value
    return best


def singular_home(model: RobotModel, rng: np.random.Generator) -> Array:
    """Return the most singular of some joint positions that the motors can hold, rad or m, shape (n,).

    They are far from the limits, as those of `random_home`.
    """
    lower, upper = np.maximum(model.lower, -2.5), np.minimum(model.upper, 2.5)
    places = (lower + upper) / 2 + 0.35 * (upper - lower) * rng.uniform(-1, 1, (60, model.n))
    loads = load_of(model, places)
    sigmas = singular_values(jacobian(model, places))[:, -1]
    return places[int(np.argmin(np.where(loads < MAX_GRAVITY_FRACTION, sigmas, sigmas + loads)))]


def _own_urdf() -> Path:
    """Return the file of the package's own arm: of a source tree, an ament prefix, or a Python prefix."""
    prefixes = [*os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep), sys.prefix]
    folders = [Path(ros2_dyn.__file__).parents[1], *(Path(p, "share", "ros2_dyn") for p in prefixes if p)]
    for folder in folders:
        path = folder / "config" / "mock_arm.urdf"
        if path.is_file():
            return path
    raise InputError("arm", "config/mock_arm.urdf is not installed: install the whole package, with its data files")
