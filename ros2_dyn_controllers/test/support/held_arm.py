# SPDX-License-Identifier: Apache-2.0
"""A simulated arm that the compiled ArmHolder carries, in virtual time."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np

from robots import example_robots, mock_arm
from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.simulation import HeldEffort, SimulatedArm

ROTOR = 0.1
STATES = ("follows", "holds", "stopped", "blind")


def with_rotors(model):
    """Return an arm whose rotors weigh at the joints, as those of arms with gears do."""
    return model.with_joint_dynamics(dict.fromkeys(model.joint_names, JointDynamics(armature=ROTOR)))


def example(name, joints):
    """Return the first joints of a robot of example-robot-data."""
    model = RobotModel.from_urdf_file(next(example_robots().rglob(name)))
    return with_rotors(model.reduced(model.joint_names[:joints]))


def wrong(model, masses, friction):
    """Return an arm whose masses are a part of the model's, with friction as a part of the effort limits."""
    inertia = [SpatialInertia.from_parameters(masses * np.asarray(each.parameters)) for each in model.inertia]
    limits = zip(model.joint_names, model.effort_limit)
    rubs = {
        name: JointDynamics(armature=ROTOR, coulomb=friction * limit, viscous=friction * limit / 2)
        for name, limit in limits
    }
    return model.with_inertia(inertia).with_joint_dynamics(rubs)


ARM = with_rotors(mock_arm())
ARMS = {"mock_arm": ARM, "panda": example("panda.urdf", 7), "ur10": example("ur10_robot.urdf", 6)}


class HolderSettings(NamedTuple):
    """As in arm_holder.hpp."""

    bandwidth: float = 10.0
    hold: bool = True
    damping: float = 2.0
    slew_time: float = 0.1
    payload_time: float = 1.0
    timeout: float = 0.1
    speed_margin: float = 0.2


def pointer(numbers):
    """Return an array as C has it; None stays null."""
    if numbers is None:
        return None
    return np.ascontiguousarray(numbers, dtype=float).ctypes.data_as(ctypes.c_void_p)


class Holder:
    """An ArmHolder in C++."""

    def __init__(self, library, tape, settings=None):
        """Make it of the bytes of a tape; a ValueError says why it is refused."""
        self._library = library
        why = ctypes.create_string_buffer(200)
        library.holder_make.restype = ctypes.c_void_p
        numbers = np.array(settings or HolderSettings(), dtype=float)
        self._holder = ctypes.c_void_p(library.holder_make(tape, ctypes.c_size_t(len(tape)), pointer(numbers), why))
        if not self._holder:
            raise ValueError(why.value.decode())

    def __del__(self):
        self._library.holder_free(self._holder)

    def reset(self):
        """Begin anew with the next tick."""
        self._library.holder_reset(self._holder)

    def set_payload(self, numbers):
        """Return whether it is taken: mass, centre of mass, and ixx, ixy, ixz, iyy, iyz, izz about it."""
        self._library.holder_set_payload.restype = ctypes.c_bool
        return self._library.holder_set_payload(self._holder, pointer(np.array(numbers, dtype=float)))

    def update(self, dt, q, qd, effort=None, motion=None, age=0.0):
        """Return the state, and the efforts."""
        q, qd = np.array(q, dtype=float), np.array(qd, dtype=float)
        effort = None if effort is None else np.array(effort, dtype=float)
        motion = None if motion is None else np.concatenate(motion).astype(float)
        out = np.empty(len(q))
        state = self._library.holder_update(
            *(self._holder, ctypes.c_double(dt), pointer(q), pointer(qd), pointer(effort), pointer(motion)),
            *(ctypes.c_double(age), pointer(out)),
        )
        return STATES[state], out


class HeldArm:
    """An arm of one model that is carried with the tape of another, at a rate, in Hz."""

    def __init__(self, holder, model, q, qd=None, rate=500.0):
        self.holder, self.period = holder, 1.0 / rate
        self.arm = SimulatedArm(model, HeldEffort(np.zeros(model.n), model.effort_limit), q, qd)
        self.state, self.effort = "", np.zeros(model.n)

    def run(self, duration, reference=lambda t, q, qd: {}, measured=lambda t, q, qd: (q, qd)):
        """Play a time with references of the time, positions and velocities; return positions and velocities.

        The holder is told of positions and velocities as they are measured at a time, s.
        """
        motion = []
        for _ in range(round(duration / self.period)):
            arm = self.arm
            given = reference(arm.t, arm.q, arm.qd)
            self.state, self.effort = self.holder.update(self.period, *measured(arm.t, arm.q, arm.qd), **given)
            arm.law = HeldEffort(self.effort, arm.model.effort_limit)
            arm.advance(round(self.period / arm.step))
            motion.append((arm.q.copy(), arm.qd.copy()))
        q, qd = zip(*motion)
        return np.array(q), np.array(qd)
