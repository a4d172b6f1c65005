# SPDX-License-Identifier: Apache-2.0
"""Motions of simulated arms, what is recorded of them, and the bag that a driver would write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robots import mock_arm
from ros2_dyn.dynamics import friction, rnea
from ros2_dyn.dynamics.presliding import stretches
from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn.simulation.perturbed import perturbed
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.recording.signals import EvenMotion

MODEL = mock_arm()
"""What is known of the arm of `recorded_motion`."""
DRIVES = {
    name: JointDynamics(viscous=2.0 + i, coulomb=3.0 - 0.4 * i, armature=0.1 * i, transition_velocity=0.05)
    for i, name in enumerate(MODEL.joint_names)
}
TRUE = MODEL.with_joint_dynamics(DRIVES)
"""That arm as it is."""
JOINT_STATE, TIME = "sensor_msgs/msg/JointState", "builtin_interfaces/msg/Time"


def sines(t, amplitude, w, phase) -> EvenMotion:
    """Return sums of sines with exact derivatives and no efforts; all but the times have the shape (k, n)."""
    x = t[:, None, None] * w + phase
    q, qd, qdd = ((amplitude * f).sum(axis=1) for f in (np.sin(x), w * np.cos(x), -(w**2) * np.sin(x)))
    return EvenMotion(t, q, qd, qdd, np.zeros_like(q))


def exciting_motion(model: RobotModel, seconds: float, rate: float, seed: int = 1) -> EvenMotion:
    """Return sums of sines in all joints, of 0.1 to 0.7 Hz, without efforts."""
    rng = np.random.default_rng(seed)
    w = 2 * np.pi * rng.uniform(0.1, 0.7, size=(5, model.n))
    amplitude, phase = rng.uniform(0.2, 0.6, size=w.shape) / w, rng.uniform(0, 2 * np.pi, size=w.shape)
    return sines(np.arange(int(seconds * rate)) / rate, amplitude, w, phase)


def efforts(model: RobotModel, motion: EvenMotion, gravity: np.ndarray | None = None) -> np.ndarray:
    """Return the efforts that a robot needs in a motion, with all its friction, drive by drive in plain words."""
    tau = rnea(model, motion.q, motion.qd, motion.qdd, gravity)
    still = np.zeros_like(motion.q)
    C = np.eye(model.n)  # from the joints' speeds to the drives'
    for i, joint in enumerate(model.joints):
        for name, ratio in joint.coupled:
            C[i, model.joint_names.index(name)] = ratio
    load = np.abs(np.linalg.solve(C.T, rnea(model, motion.q, still, still, gravity).T).T)
    for i, joint in enumerate(model.joints):
        d, qd = joint.dynamics, motion.qd @ C[i]
        sign = np.tanh(qd / d.transition_velocity)
        excess = (d.breakaway - d.coulomb) * np.exp(-((qd / d.stribeck_velocity) ** 2))
        friction = d.viscous * qd + (d.coulomb + excess + d.load * load[:, i]) * sign + d.offset
        for distance, effort in d.presliding:
            friction = friction + effort * stretches(motion.q @ C[i : i + 1].T, [distance])[:, 0, 0]
        tau += np.outer(friction, C[i])
    return tau


def recording(motion: EvenMotion, efforts: np.ndarray) -> Recording:
    """Return what a driver would have published."""
    return Recording(motion.t, motion.q, motion.qd, efforts)


def recorded_motion(seconds=24.0, rate=250.0, noise=0.0) -> Recording:
    """Return a motion of all joints of the arm `TRUE`."""
    motion = sines(np.arange(0, seconds, 1 / rate), 0.4, np.array([[1.1, 1.7, 1.3, 2.3, 2.9, 3.1]]), 0.0)
    motion = motion._replace(q=motion.q + np.array([0.0, -1.2, 1.4, -1.8, -1.57, 0.0]))
    effort = rnea(TRUE, motion.q, motion.qd, motion.qdd) + friction(TRUE, motion.qd)
    rng = np.random.default_rng(1)
    measured = motion._replace(qd=motion.qd + noise * rng.normal(0, 0.002, motion.q.shape))
    return recording(measured, effort + noise * rng.normal(0, 0.2, motion.q.shape))


def synthetic_recording(
    model: RobotModel, seed: int, seconds: float = 24.0, rate: float = 100.0, noise: float = 0.005
) -> Recording:
    """Return a motion of all joints of an arm that is not quite its model, with friction and noise.

    Args:
        model: the robot; inertias of the arm differ from it by up to 15 %.
        seed: of the differences, the motion and the noise.
        seconds: duration, s.
        rate: states per second, Hz.
        noise: standard deviation of the efforts, as a fraction of their limits.
    """
    rng = np.random.default_rng(seed)
    limit = model.effort_limit
    drives = {
        name: JointDynamics(
            viscous=rng.uniform(0.005, 0.05) * x, coulomb=rng.uniform(0.01, 0.05) * x, transition_velocity=0.02
        )
        for name, x in zip(model.joint_names, limit.tolist())
    }
    arm = perturbed(model.with_joint_dynamics(drives), rng, 0.15)
    lower, upper = np.maximum(model.lower, -2.5), np.minimum(model.upper, 2.5)
    w = 2 * np.pi * rng.uniform(0.08, 0.25, (3, model.n))
    amplitude = rng.uniform(0.3, 1.0, (3, model.n))
    amplitude *= 0.4 * (upper - lower) / np.sum(amplitude, axis=0)
    amplitude *= np.minimum(1.0, 0.8 * model.velocity_limit / np.sum(amplitude * w, axis=0))
    motion = sines(np.arange(0, seconds, 1 / rate), amplitude, w, rng.uniform(0, 2 * np.pi, (3, model.n)))
    motion = motion._replace(q=motion.q + (lower + upper) / 2)
    effort = rnea(arm, motion.q, motion.qd, motion.qdd) + friction(arm, motion.qd)
    return recording(motion, effort + rng.normal(size=effort.shape) * noise * limit)


def write_bag(path: Path, recording: Recording, names) -> None:
    """Write a bag as a driver's: a gripper's messages in between, joints in another order, one message twice.

    Args:
        path: folder that is made.
        recording: what is written.
        names: the joints.
    """
    order = [3, 1, 5, 0, 2, 4]
    with bag_of_states(path) as write:
        for i, (t, *rows) in enumerate(zip(recording.t, recording.q, recording.qd, recording.effort)):
            at = round(1e9 * (t + 5))
            messages = [serialised_state(at, [names[k] for k in order], *(row[order] for row in rows))]
            if i % 10 == 0:
                messages += [messages[0], serialised_state(at, ["finger"], *np.ones((3, 1)))]
            for message in messages:
                write(at, message)


@contextmanager
def bag_of_states(path: Path, version: int = 9, mcap: bool = False) -> Iterator[Callable[[int, bytes], None]]:
    """Write a bag: what is yielded takes the time at which a joint state is recorded, ns, and the state."""
    from rosbags.rosbag2 import StoragePlugin, Writer

    plugin = StoragePlugin.MCAP if mcap else StoragePlugin.SQLITE3
    with Writer(path, version=version, storage_plugin=plugin) as writer:
        yield partial(writer.write, writer.add_connection("/joint_states", JOINT_STATE, typestore=_typestore()))


def serialised_state(at: int, names: Sequence[str], *numbers: ArrayLike) -> bytes:
    """Return a joint state with a stamp, ns, and positions, velocities and efforts, as a driver publishes it."""
    store = _typestore()
    JointState, Header, Time = (store.types[each] for each in (JOINT_STATE, "std_msgs/msg/Header", TIME))
    rows = (np.array(each, dtype=float) for each in numbers)
    message = JointState(Header(Time(*divmod(at, 10**9)), ""), list(names), *rows)
    return bytes(store.serialize_cdr(message, JOINT_STATE))


@lru_cache(maxsize=1)
def _typestore() -> Any:
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS2_HUMBLE)
