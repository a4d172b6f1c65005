# SPDX-License-Identifier: Apache-2.0
"""Samples read from bytes are those that the messages hold, whatever their layout."""

import math
import random
import struct

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from geometry_msgs.msg import PoseStamped, WrenchStamped
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_dyn.errors import MessageError
from ros2_dyn.ros import cdr_reader
from ros2_dyn.ros.cdr_reader import (
    MAX_LAYOUTS,
    MAX_SIZE,
    MAX_SIZES,
    DesiredReader,
    JointStateReader,
    PoseReader,
    WrenchReader,
)

NAMES = ["shoulder", "upper_arm", "elbow", "wrist_1", "wrist_2", "w3"]
SPECIAL = (0.0, -0.0, math.nan, math.inf, -math.inf, 1e-320)


@pytest.fixture
def deserialised(monkeypatch):
    """The bytes that were read the ordinary way."""
    found = []

    def spy(raw, message_type):
        found.append(raw)
        return deserialize_message(raw, message_type)

    monkeypatch.setattr(cdr_reader, "deserialize_message", spy)
    return found


def check(sample, message):
    """Compare a sample with its message, numbers to the bit, NaN included."""
    names, source = (
        (message.name, message) if isinstance(message, JointState) else (message.joint_names, message.points[0])
    )
    assert sample.stamp == message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
    assert list(sample.names) == list(names)
    for field in sample._fields:
        if hasattr(source, field):
            expected = getattr(source, field)
            assert struct.pack(f"{len(expected)}d", *getattr(sample, field)) == struct.pack(
                f"{len(expected)}d", *expected
            )


def set_header(message, chance):
    message.header.stamp.sec = chance.randrange(-5, 2**31)
    message.header.stamp.nanosec = chance.randrange(10**9)
    message.header.frame_id = chance.choice(["", "a", "base", "base_link", "größe", "x" * chance.randrange(40)])


def random_numbers(chance, n):
    """Mostly n numbers; at times none, or another count."""
    count = chance.choice([n, n, n, 0, chance.randrange(9)])
    return [chance.choice(SPECIAL) if chance.random() < 0.1 else chance.gauss(0.0, 3.0) for _ in range(count)]


def random_names(chance):
    """Some names of some lengths, in some order."""
    pool = [*NAMES, "é", "", "gripper", "j" * chance.randrange(1, 30)]
    return chance.sample(pool, chance.randrange(len(pool)))


def random_joint_state(chance):
    names = random_names(chance)
    message = JointState(name=names)
    set_header(message, chance)
    message.position, message.velocity, message.effort = (random_numbers(chance, len(names)) for _ in range(3))
    return message


def random_trajectory(chance):
    names = random_names(chance)
    message = JointTrajectory(joint_names=names)
    set_header(message, chance)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        arrays = [random_numbers(chance, len(names)) for _ in range(4)]
        point = JointTrajectoryPoint(
            positions=arrays[0], velocities=arrays[1], accelerations=arrays[2], effort=arrays[3]
        )
        message.points.append(point)
    return message


@pytest.mark.parametrize(
    ("reader", "make"), [(JointStateReader, random_joint_state), (DesiredReader, random_trajectory)]
)
@pytest.mark.parametrize("seed", range(5))
def test_a_stream_of_changing_layouts_is_read_as_the_messages_are(reader, make, seed):
    """Names, their order and count, frames, missing arrays and NaN change from one to the next."""
    chance, ours = random.Random(seed), reader()
    messages = [make(chance) for _ in range(4)]
    for _ in range(200):
        if chance.random() < 0.2:
            messages[chance.randrange(4)] = make(chance)
        message = chance.choice(messages)
        set_header(message, chance)
        check(ours.read(serialize_message(message)), message)


def joint_state(names=NAMES, frame="base", stamp=5, velocity=True):
    """A message that a driver would publish."""
    n = len(names)
    message = JointState(name=list(names), position=[0.1 * i for i in range(n)], effort=[2.0] * n)
    message.velocity = [1.0 + i for i in range(n)] if velocity else []
    message.header.frame_id, message.header.stamp.sec = frame, stamp
    return message


def wrench_bytes(stamp, value, order="<", padding=b"\0\0\0"):
    """A geometry_msgs/WrenchStamped of an empty frame, as CDR has it, with what pads the string to eight bytes."""
    encapsulation = b"\0\1\0\0" if order == "<" else bytes(4)
    head, numbers = struct.pack(f"{order}iII", stamp, 0, 1), struct.pack(f"{order}6d", *[value] * 6)
    return encapsulation + head + b"\0" + padding + numbers


def test_what_is_in_the_padding_does_not_matter(deserialised):
    reader = WrenchReader()
    for i, padding in enumerate([b"abc", b"\0\0\0", b"\xff\1\2"]):
        assert reader.read(wrench_bytes(i, 2.0 * i, padding=padding)) == (i * 10**9, "", (2.0 * i,) * 6, None)
    assert len(deserialised) == 1


def test_a_message_of_the_other_byte_order_is_read_right():
    reader = WrenchReader()
    for order in "<><":
        assert reader.read(wrench_bytes(3, 0.1, order)) == (3 * 10**9, "", (0.1,) * 6, None)


def test_two_publishers_of_one_topic_are_both_read_without_message_objects(deserialised):
    reader = JointStateReader()
    for i in range(50):
        message = joint_state(stamp=i, names=["finger"] if i % 2 else NAMES)
        check(reader.read(serialize_message(message)), message)
    assert len(deserialised) == 2


@pytest.mark.parametrize(
    "other",
    [
        joint_state(NAMES[::-1]),
        joint_state([*NAMES[:-1], "w4"]),
        joint_state(frame="tool"),
        joint_state([name.replace("elbow", "elbo") for name in NAMES]),
    ],
    ids=["order", "name", "frame", "lengths"],
)
def test_a_message_of_the_same_size_and_another_layout_is_read_right(other, deserialised):
    reader, usual = JointStateReader(), joint_state()
    assert len(serialize_message(other)) == len(serialize_message(usual))
    for message in (usual, other, usual, usual):
        check(reader.read(serialize_message(message)), message)
    assert len(deserialised) == 2  # each once


def test_arrays_that_swap_their_lengths_are_read_right():
    """Positions without velocities and velocities without positions: the same size, the same names."""
    reader, message = JointStateReader(), JointState(name=NAMES, position=[1.0] * 6)
    other = JointState(name=NAMES, velocity=[2.0] * 6)
    for each in (message, other, message):
        check(reader.read(serialize_message(each)), each)


def test_layouts_that_change_without_end_are_forgotten(deserialised):
    """So they do not fill the memory."""
    reader = JointStateReader()
    of_any_size = [joint_state(["a" * (4 * i + 1)]) for i in range(5 * MAX_SIZES)]
    of_one_size = [joint_state([name]) for name in "abcdefgh"]
    for messages, kept in ((of_any_size, MAX_SIZES), (of_one_size, MAX_LAYOUTS)):
        for _ in range(2):
            deserialised.clear()
            for message in messages:
                check(reader.read(serialize_message(message)), message)
        assert len(deserialised) >= len(messages) - kept


@pytest.mark.parametrize("size", [0, 3, 11, 100, -1])
@pytest.mark.parametrize("warm", [False, True], ids=["at first", "later"])
def test_bytes_that_are_no_message_are_refused(size, warm):
    reader, raw = JointStateReader(), serialize_message(joint_state())
    if warm:
        reader.read(raw)
    with pytest.raises(MessageError, match=r"not readable.*bytes are no JointState"):
        reader.read(raw[:size])
    check(reader.read(raw), joint_state())


def test_a_trajectory_without_points_is_refused():
    with pytest.raises(MessageError, match="points: empty"):
        DesiredReader().read(serialize_message(JointTrajectory(joint_names=NAMES)))


def test_a_trajectory_that_gets_a_second_point_is_read_right(deserialised):
    reader = DesiredReader()
    point = JointTrajectoryPoint(positions=[1.0], velocities=[2.0], accelerations=[3.0])
    for count in (1, 2, 1, 2):
        message = JointTrajectory(joint_names=["a"], points=[point] * count)
        check(reader.read(serialize_message(message)), message)
    assert len(deserialised) == 2


@pytest.mark.parametrize(
    ("reader", "kind", "numbers"),
    [
        (WrenchReader, WrenchStamped, lambda m: [m.wrench.force, m.wrench.torque]),
        (PoseReader, PoseStamped, lambda m: [m.pose.position, m.pose.orientation]),
    ],
)
def test_wrenches_and_poses_are_read_in_any_frame(reader, kind, numbers, deserialised):
    ours, message = reader(), kind()
    for i in range(30):
        frame = message.header.frame_id = ["", "tool0", "base"][i % 3]
        message.header.stamp.sec = i
        for k, part in enumerate(numbers(message)):
            part.x, part.y, part.z = 1.0 * i, math.inf, 10.0 * k
        expected = [getattr(part, axis) for part in numbers(message) for axis in "xyzw" if hasattr(part, axis)]
        assert ours.read(serialize_message(message), i) == (i * 10**9, frame, tuple(expected), i)
    assert len(deserialised) == 3


@pytest.mark.parametrize(
    ("reader", "raw"),
    [
        (JointStateReader, serialize_message(joint_state([f"n{i}" for i in range(100_000)]))),
        (DesiredReader, serialize_message(JointTrajectory(points=[JointTrajectoryPoint(positions=[0.0] * 10_000)]))),
        (WrenchReader, serialize_message(WrenchStamped(header=Header(frame_id="x" * 1_000_000)))),
        (PoseReader, serialize_message(PoseStamped(header=Header(frame_id="x" * 1_000_000)))),
    ],
)
def test_a_message_of_absurd_size_is_refused_without_being_deserialised(reader, raw, deserialised):
    assert len(raw) > MAX_SIZE
    with pytest.raises(MessageError, match="too large"):
        reader().read(raw)
    assert not deserialised


def test_joint_states_of_1000_joints_are_read():
    names = [f"robot_{i}_joint" for i in range(1000)]
    check(JointStateReader().read(serialize_message(joint_state(names))), joint_state(names))
