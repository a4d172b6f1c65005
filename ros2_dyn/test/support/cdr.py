# SPDX-License-Identifier: Apache-2.0
"""Serialises messages by hand, as the CDR specification has it, with noise in the bytes that nobody is to read."""

import random
import struct

from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory


class CdrWriter:
    """Writes the fields of one message."""

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
