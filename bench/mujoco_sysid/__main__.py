# SPDX-License-Identifier: Apache-2.0
"""mujoco.sysid on a recording: bodies, damping, friction loss, armature and torque bias, by inverse dynamics.

    pip install "mujoco[sysid]==3.17.0"
    python bench/mujoco_sysid ur10.urdf RECORDING --iterations 40

It is fitted to the first two thirds and tested on the last, as `ros2_dyn identify` is by default.
"""

from __future__ import annotations

import argparse
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from mujoco import sysid

from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.identification.parts import NONE, TEST, Split, parts_of
from ros2_dyn_tools.recording.recording import read_recording
from ros2_dyn_tools.recording.signals import EvenMotion, even_motion, zero_phase

STRETCH, SHEAR = np.array([0.02, 50.0]), np.array([-3.0, 3.0])
"""Bounds of the bodies' shapes: wider than the default, at which the fit ends on them."""
LARGEST_BIAS = 0.2
"""Share of the largest effort."""
ROUNDS = 2
"""Fits: in the first one joints are weighted by their efforts, as mujoco.sysid does, then by what is left of them."""
FIT_RATE = 40.0
"""Highest rate of the states that are fitted where efforts are not filtered, Hz."""


def main() -> None:
    """Identify, and print root mean squares of the effort's error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("urdf", type=Path)
    parser.add_argument("recording", type=Path)
    parser.add_argument("--joints", nargs="+", help="of the arm, where it is part of a bigger robot")
    parser.add_argument("--recorded-joints", nargs="+", help="their names in the recording")
    parser.add_argument("--cutoff", type=float, default=10.0, help="of positions and velocities, Hz")
    parser.add_argument("--band", type=float, help="of all efforts, Hz")
    parser.add_argument("--iterations", type=int, default=40)
    arguments = parser.parse_args()
    model = RobotModel.from_urdf_file(arguments.urdf)
    model = model.reduced(arguments.joints) if arguments.joints else model
    names = arguments.recorded_joints or model.joint_names
    motion = even_motion(read_recording(arguments.recording, names), arguments.cutoff)
    (parts,) = parts_of([motion], Split())
    fitted, tested = (parts != TEST) & (parts != NONE), parts == TEST
    band = arguments.band

    def low(efforts: Array) -> Array:
        return zero_phase(efforts, band, motion.step) if band else efforts

    spec = arm_without_shapes(arguments.urdf, model.joint_names)
    measured = low(motion.effort)
    parameters = all_parameters(spec, spec.compile(), model.joint_names, motion, fitted)
    every = np.arange(len(fitted))
    thin = max(1, round(1 / (motion.step * FIT_RATE)))
    rows, judged = (every, np.flatnonzero(fitted)) if band else (2 * (np.flatnonzero(fitted)[::thin],))
    scale = np.sqrt(np.mean(measured[fitted] ** 2, axis=0))

    def error(x: Array, found: Any, rows: Array) -> Array:
        found.update_from_vector(x)
        bias = [found[f"{name} bias"].value[0] for name in model.joint_names]
        return low(inverse_dynamics(sysid.apply_param_modifiers(found, spec), motion, rows)) + bias - measured

    def residual(x: Array, found: Any, **_: Any) -> tuple[list[Array], list[Any], list[Any]]:
        columns = np.asarray(x).reshape(len(x), -1).T
        values = np.stack([(error(each, found, rows)[judged] / scale).ravel() for each in columns], axis=-1)
        return [values if np.ndim(x) > 1 else values[:, 0]], [], []

    began = time.process_time()
    best = parameters
    for _ in range(ROUNDS):
        best, result = sysid.optimize(best, residual, optimizer="mujoco", max_iters=arguments.iterations)
        left = error(result.x, best, every)
        print("test ", np.sqrt(np.mean(left[tested] ** 2, axis=0)).round(2))
        scale[:] = np.sqrt(np.mean(left[fitted] ** 2, axis=0))
    print(f"{time.process_time() - began:.0f} s of processor time, {best.size} parameters")
    print("fit  ", scale.round(2))


def arm_without_shapes(urdf: Path, joint_names: tuple[str, ...]) -> Any:
    """Return MuJoCo's specification of the arm, with the other joints locked, no geometry, no limits."""
    root = ET.parse(urdf).getroot()
    for link in root.findall("link"):
        for shape in (*link.findall("visual"), *link.findall("collision")):
            link.remove(shape)
    for joint in root.findall("joint"):
        if joint.get("name") not in joint_names:
            joint.set("type", "fixed")
    spec = mujoco.MjSpec.from_string(ET.tostring(root, encoding="unicode"))
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    spec.compile()
    return mujoco.MjSpec.from_string(spec.to_xml())  # as MJCF, whose bodies can be changed one by one


def all_parameters(
    spec: Any, compiled: Any, joint_names: tuple[str, ...], motion: EvenMotion, fitted: Array
) -> sysid.ParameterDict:
    """Return the parameters, with bounds and beginnings from the sizes of the recorded signals."""
    parameters = sysid.ParameterDict()
    effort, speed, acceleration = (np.abs(x[fitted]).max(axis=0) for x in (motion.effort, motion.qd, motion.qdd))
    for i, name in enumerate(joint_names):
        body = compiled.body(compiled.joint(name).bodyid[0]).name
        parameters.add(
            sysid.body_inertia_param(
                spec,
                compiled,
                body,
                sysid.InertiaType.Pseudo,
                stretch_bound_mult=STRETCH,
                shear_bound_off=SHEAR,
                modifier=put_body(body),
            )
        )
        for field, size, begin in (
            ("damping", 2 * effort[i] / speed[i], 0.05),
            ("frictionloss", effort[i], 0.1),
            ("armature", effort[i] / acceleration[i], 0.05),
        ):
            parameters.add(sysid.Parameter(f"{name} {field}", begin * size, 0.0, size, modifier=put_joint(name, field)))
        bias = LARGEST_BIAS * effort[i]
        parameters.add(sysid.Parameter(f"{name} bias", 0.0, -bias, bias))
    return parameters


def put_body(name: str) -> Callable[[Any, Any], None]:
    """Return what writes a pseudo-inertia into a body.

    That of mujoco.sysid compiles the arm for every body, and fails on the second one of an arm that comes from a URDF.
    """
    from mujoco.sysid._src.model_modifier import pi_from_theta, skew

    def modify(spec: Any, parameter: Any) -> None:
        mass, *rest = pi_from_theta(parameter.value)
        com = np.array(rest[:3]) / mass
        moments, axes = np.linalg.eigh(np.reshape(rest[3:], (3, 3)) + mass * skew(com) @ skew(com))
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, axes.ravel())
        body = spec.body(name)
        body.explicitinertial, body.mass, body.ipos = True, mass, com
        body.inertia, body.iquat = moments, quaternion

    return modify


def put_joint(name: str, field: str) -> Callable[[Any, Any], None]:
    """Return what writes a number into a joint."""

    def modify(spec: Any, parameter: Any) -> None:
        value, joint = parameter.value[0], spec.joint(name)
        if isinstance(getattr(joint, field), np.ndarray):
            getattr(joint, field)[0] = value
        else:
            setattr(joint, field, value)

    return modify


def inverse_dynamics(compiled: Any, motion: EvenMotion, rows: Array) -> Array:
    """Return the efforts of the states in some rows, N m or N, shape (m, n); the others are zero."""
    data, efforts = mujoco.MjData(compiled), np.zeros_like(motion.q)
    for k in rows:
        data.qpos[:], data.qvel[:], data.qacc[:] = motion.q[k], motion.qd[k], motion.qdd[k]
        mujoco.mj_inverse(compiled, data)
        efforts[k] = data.qfrc_inverse
    return efforts


if __name__ == "__main__":
    main()
