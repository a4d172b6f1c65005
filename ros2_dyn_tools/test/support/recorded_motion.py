# SPDX-License-Identifier: Apache-2.0
"""A simulated arm with friction, the motion that it was recorded with, and the bag that a driver would write of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robots import mock_arm
from ros2_dyn.dynamics import friction, rnea
from ros2_dyn.model import JointDynamics
from ros2_dyn_tools.recording.recording import Recording

MODEL = mock_arm()
"""What is known of the arm."""
DRIVES = {
    name: JointDynamics(viscous=2.0 + i, coulomb=3.0 - 0.4 * i, armature=0.1 * i, transition_velocity=0.05)
    for i, name in enumerate(MODEL.joint_names)
}
TRUE = MODEL.with_joint_dynamics(DRIVES)
"""The arm as it is."""


def recorded_motion(seconds=24.0, rate=250.0, noise=0.0) -> Recording:
    """Return a motion of all joints."""
    t = np.arange(0, seconds, 1 / rate)
    w = np.array([1.1, 1.7, 1.3, 2.3, 2.9, 3.1])
    phase = np.outer(t, w)
    q = [0.0, -1.2, 1.4, -1.8, -1.57, 0.0] + 0.4 * np.sin(phase)
    qd, qdd = 0.4 * w * np.cos(phase), -0.4 * w**2 * np.sin(phase)
    effort = rnea(TRUE, q, qd, qdd) + friction(TRUE, qd)
    rng = np.random.default_rng(1)
    return Recording(t, q, qd + noise * rng.normal(0, 0.002, q.shape), effort + noise * rng.normal(0, 0.2, q.shape))


def write_bag(path: Path, recording: Recording, names, began: int = 5) -> None:
    """Write a bag as a driver's: a gripper's messages in between, joints in another order, one message twice.

    Args:
        path: folder that is made.
        recording: what is written.
        names: the joints.
        began: time of the first message, s.
    """
    from rosbags.rosbag2 import Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    JointState, Header, Time = (
        store.types[name]
        for name in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    )
    order = [3, 1, 5, 0, 2, 4]
    with Writer(path, version=9) as writer:
        connection = writer.add_connection("/joint_states", JointState.__msgtype__, typestore=store)
        for i, (t, *rows) in enumerate(zip(recording.t, recording.q, recording.qd, recording.effort)):
            at = began * 10**9 + round(t * 1e9)
            header = Header(Time(at // 10**9, at % 10**9), "")
            messages = [JointState(header, [names[k] for k in order], *(row[order] for row in rows))]
            if i % 10 == 0:
                messages += [messages[0], JointState(header, ["finger"], np.ones(1), np.ones(1), np.ones(1))]
            for message in messages:
                writer.write(connection, at, store.serialize_cdr(message, JointState.__msgtype__))
