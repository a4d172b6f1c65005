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


class CdrWriter:
    """Writes the fields of one message by hand, as the CDR specification has it, with noise in the padding."""

    def __init__(self, big_endian: bool, seed: int) -> None:
        self._order = ">" if big_endian else "<"
        self._noise = random.Random(seed)
        self._body = bytearray()

    def number(self, kind: str, value: float) -> None:
        """Write a number, aligned to its size."""
        size = struct.calcsize(kind)
        self._body += self._noise.randbytes(-len(self._body) % size) + struct.pack(self._order + kind, value)

    def string(self, text: str) -> None:
        """Write a string."""
        data = text.encode() + b"\0"
        self.number("I", len(data))
        self._body += data

    def strings(self, texts: list[str]) -> None:
        """Write a sequence of strings."""
        self.number("I", len(texts))
        for text in texts:
            self.string(text)

    def numbers(self, values: list[float]) -> None:
        """Write a sequence of numbers."""
        self.number("I", len(values))
        for value in values:
            self.number("d", value)

    def header(self, header) -> None:
        """Write a std_msgs/Header."""
        self.number("i", header.stamp.sec)
        self.number("I", header.stamp.nanosec)
        self.string(header.frame_id)

    def bytes(self) -> bytes:
        """Return the message."""
        return (b"\0\0\0\0" if self._order == ">" else b"\0\1\0\0") + bytes(self._body)


def joint_state_bytes(message: JointState, big_endian: bool = False, seed: int = 0) -> bytes:
    """Serialise a sensor_msgs/JointState."""
    writer = CdrWriter(big_endian, seed)
    writer.header(message.header)
    writer.strings(message.name)
    for values in (message.position, message.velocity, message.effort):
        writer.numbers(values)
    return writer.bytes()


def trajectory_bytes(message: JointTrajectory, big_endian: bool = False, seed: int = 0) -> bytes:
    """Serialise a trajectory_msgs/JointTrajectory."""
    writer = CdrWriter(big_endian, seed)
    writer.header(message.header)
    writer.strings(message.joint_names)
    writer.number("I", len(message.points))
    for point in message.points:
        for values in (point.positions, point.velocities, point.accelerations, point.effort):
            writer.numbers(values)
        writer.number("i", point.time_from_start.sec)
        writer.number("I", point.time_from_start.nanosec)
    return writer.bytes()


@pytest.fixture
def deserialised(monkeypatch):
    """The bytes that were read the ordinary way."""
    found = []

    def spy(raw, message_type):
        found.append(raw)
        return deserialize_message(raw, message_type)

    monkeypatch.setattr(cdr_reader, "deserialize_message", spy)
    return found


def arrays_equal(ours, theirs):
    """Whether numbers are the same to the bit, NaN included."""
    return struct.pack(f"{len(ours)}d", *ours) == struct.pack(f"{len(theirs)}d", *theirs)


def check_joint_state(sample, message):
    assert sample.stamp == message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
    assert list(sample.names) == list(message.name)
    assert arrays_equal(sample.position, message.position)
    assert arrays_equal(sample.velocity, message.velocity)
    assert arrays_equal(sample.effort, message.effort)


def check_desired(sample, message):
    point = message.points[0]
    assert sample.stamp == message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
    assert list(sample.names) == list(message.joint_names)
    assert arrays_equal(sample.positions, point.positions)
    assert arrays_equal(sample.velocities, point.velocities)
    assert arrays_equal(sample.accelerations, point.accelerations)


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
    ("reader", "make", "to_bytes", "check"),
    [
        (JointStateReader, random_joint_state, joint_state_bytes, check_joint_state),
        (DesiredReader, random_trajectory, trajectory_bytes, check_desired),
    ],
)
@pytest.mark.parametrize("seed", range(20))
def test_a_stream_of_changing_layouts_is_read_as_the_messages_are(reader, make, to_bytes, check, seed):
    """Names, their order and count, frames, missing arrays, byte order, NaN and padding change from one to the next."""
    chance, ours = random.Random(seed), reader()
    messages = [make(chance) for _ in range(4)]
    for _ in range(60):
        if chance.random() < 0.2:
            messages[chance.randrange(4)] = make(chance)
        message = chance.choice(messages)
        set_header(message, chance)
        raw = to_bytes(message, chance.random() < 0.1, chance.randrange(10**6))
        check(ours.read(raw), message)


def joint_state(names=NAMES, frame="base", stamp=5, velocity=True):
    """A message that a driver would publish."""
    n = len(names)
    message = JointState(name=list(names), position=[0.1 * i for i in range(n)], effort=[2.0] * n)
    message.velocity = [1.0 + i for i in range(n)] if velocity else []
    message.header.frame_id, message.header.stamp.sec = frame, stamp
    return message


def test_a_message_of_a_known_layout_is_read_without_a_message_object_whatever_is_in_its_padding(deserialised):
    reader = JointStateReader()
    for i in range(50):
        message = joint_state(stamp=i)
        check_joint_state(reader.read(joint_state_bytes(message, seed=i)), message)
    assert len(deserialised) == 1


def test_two_publishers_of_one_topic_are_both_read_without_message_objects(deserialised):
    reader = JointStateReader()
    for i in range(50):
        message = joint_state(stamp=i, names=["finger"] if i % 2 else NAMES)
        check_joint_state(reader.read(serialize_message(message)), message)
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
    assert len(joint_state_bytes(other)) == len(joint_state_bytes(usual))
    for message in (usual, other, usual, usual):
        check_joint_state(reader.read(joint_state_bytes(message)), message)
    assert len(deserialised) == 2  # each once


def test_arrays_that_swap_their_lengths_are_read_right():
    """Positions without velocities and velocities without positions: the same size, the same names."""
    reader, message = JointStateReader(), JointState(name=NAMES, position=[1.0] * 6)
    other = JointState(name=NAMES, velocity=[2.0] * 6)
    for each in (message, other, message):
        check_joint_state(reader.read(joint_state_bytes(each)), each)


@pytest.mark.parametrize("big_endian", [False, True])
def test_what_middlewares_serialise_is_what_the_tests_do(big_endian):
    message = joint_state()
    assert deserialize_message(joint_state_bytes(message, big_endian, 3), JointState) == message


def test_names_of_one_layout_are_one_object():
    reader = JointStateReader()
    reader.read(joint_state_bytes(joint_state()))
    first, second = (reader.read(joint_state_bytes(joint_state(stamp=i))) for i in (1, 2))
    assert first.names is second.names


def test_the_time_of_arrival_is_passed_on():
    reader = JointStateReader()
    assert [reader.read(joint_state_bytes(joint_state()), at).received for at in (None, 7, 8)] == [None, 7, 8]


def test_layouts_that_change_without_end_are_forgotten(deserialised):
    """So they do not fill the memory."""
    reader = JointStateReader()
    of_any_size = [joint_state(["a" * (4 * i + 1)]) for i in range(5 * MAX_SIZES)]
    of_one_size = [joint_state([name]) for name in "abcdefgh"]
    for messages, kept in ((of_any_size, MAX_SIZES), (of_one_size, MAX_LAYOUTS)):
        for _ in range(2):
            deserialised.clear()
            for message in messages:
                check_joint_state(reader.read(joint_state_bytes(message)), message)
        assert len(deserialised) >= len(messages) - kept


@pytest.mark.parametrize("size", [0, 3, 4, 11, 12, 40, 100, -1, -9])
@pytest.mark.parametrize("warm", [False, True], ids=["at first", "later"])
def test_bytes_that_are_no_message_are_refused(size, warm):
    reader, raw = JointStateReader(), joint_state_bytes(joint_state())
    if warm:
        reader.read(raw)
    with pytest.raises(MessageError, match=r"not readable.*bytes are no JointState"):
        reader.read(raw[:size])
    check_joint_state(reader.read(raw), joint_state())


def test_a_trajectory_without_points_is_refused():
    with pytest.raises(MessageError, match="points: empty"):
        DesiredReader().read(trajectory_bytes(JointTrajectory(joint_names=NAMES)))


def test_a_trajectory_that_gets_a_second_point_is_read_right(deserialised):
    reader = DesiredReader()
    point = JointTrajectoryPoint(positions=[1.0], velocities=[2.0], accelerations=[3.0])
    for count in (1, 2, 1, 2):
        message = JointTrajectory(joint_names=["a"], points=[point] * count)
        check_desired(reader.read(trajectory_bytes(message)), message)
    assert len(deserialised) == 2


def test_a_wrench_is_read_in_any_frame(deserialised):
    reader, message = WrenchReader(), WrenchStamped()
    for i in range(30):
        frame = message.header.frame_id = ["", "tool0", "base"][i % 3]
        message.header.stamp.sec = i
        message.wrench.force.x, message.wrench.torque.z = 1.0 * i, math.inf
        sample = reader.read(serialize_message(message), i)
        assert sample == (i * 10**9, frame, (1.0 * i, 0.0, 0.0, 0.0, 0.0, math.inf), i)
    assert len(deserialised) == 3


def test_a_pose_is_read_in_any_frame(deserialised):
    reader, message = PoseReader(), PoseStamped()
    for i in range(30):
        frame = message.header.frame_id = ["", "tool0", "base"][i % 3]
        message.header.stamp.sec = i
        message.pose.position.y, message.pose.orientation.w = 1.0 * i, 0.5
        sample = reader.read(serialize_message(message), i)
        assert sample == (i * 10**9, frame, (0.0, 1.0 * i, 0.0, 0.0, 0.0, 0.0, 0.5), i)
    assert len(deserialised) == 3


@pytest.mark.parametrize(
    ("reader", "raw"),
    [
        (JointStateReader, joint_state_bytes(joint_state([f"n{i}" for i in range(100_000)]))),
        (DesiredReader, trajectory_bytes(JointTrajectory(points=[JointTrajectoryPoint(positions=[0.0] * 10_000)]))),
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
    check_joint_state(JointStateReader().read(joint_state_bytes(joint_state(names))), joint_state(names))
