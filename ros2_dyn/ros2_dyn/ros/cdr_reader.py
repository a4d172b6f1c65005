# SPDX-License-Identifier: Apache-2.0
"""Messages of the hot topics as samples, read from their serialised bytes without a message object between.

A message is read the ordinary way once. Its layout (where the names and the numbers are) is kept, and later messages of
the same layout are read with one `struct` call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from struct import error
from typing import Any, ClassVar, Generic, TypeVar

from geometry_msgs.msg import PoseStamped, WrenchStamped
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from ros2_dyn.errors import MessageError
from ros2_dyn.ros.cdr_layout import ENCAPSULATION, Arrays, Layout, Names, Scanner
from ros2_dyn.runtime.inputs import DesiredSample, JointSample, PoseSample, WrenchSample

LITTLE_ENDIAN = b"\0\1"
"""First bytes of plain little-endian CDR, the only representation that is read here without a message object."""
MAX_SIZES, MAX_LAYOUTS = 16, 4
"""Sizes of messages of which one reader keeps layouts, and layouts of one size."""
MAX_SIZE = 65536
"""Bytes of a message of a hot topic: joint states of 1000 joints. What is larger is not even deserialised."""

Sample = TypeVar("Sample")


class CdrReader(ABC, Generic[Sample]):
    """Reads the serialised messages of one topic."""

    message_type: ClassVar[Any]

    def __init__(self) -> None:
        self._layouts: dict[int, list[Layout]] = {}

    def read(self, raw: bytes, received: int | None = None) -> Sample:
        """Return the sample that a message holds.

        Args:
            raw: the serialised message.
            received: time of its arrival by the clock of the stamps, ns.

        Raises:
            MessageError: the bytes are no such message or too many, or it lacks what a sample needs.
        """
        if len(raw) > MAX_SIZE:
            raise MessageError("message", "too large", f"expected at most {MAX_SIZE} bytes")
        if raw.startswith(LITTLE_ENDIAN):
            for layout in self._layouts.get(len(raw), ()):
                values = layout.unpack(raw, ENCAPSULATION)
                if layout.constants(values) == layout.expected:
                    stamp = 1_000_000_000 * values[0] + values[1]
                    return self._sample(stamp, layout.names, layout.arrays(values), received)
        return self._read_message(raw, received)

    def _read_message(self, raw: bytes, received: int | None) -> Sample:
        """Read a message the ordinary way, and keep its layout."""
        try:
            message = deserialize_message(raw, self.message_type)
        except (RuntimeError, ValueError) as problem:  # the middlewares' errors
            detail = f"{len(raw)} bytes are no {self.message_type.__name__}: {problem}"
            raise MessageError("message", "not readable", detail) from None
        stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        names, arrays = self._fields(message)
        arrays = [tuple(numbers) for numbers in arrays]
        if raw.startswith(LITTLE_ENDIAN):
            self._learn(raw, stamp, names, arrays)
        return self._sample(stamp, names, arrays, received)

    def _learn(self, raw: bytes, stamp: int, names: Names, arrays: Arrays) -> None:
        """Keep the layout of a message, if what is found by it is what the message holds."""
        try:
            scanner = Scanner(raw)
            self._scan(scanner)
            layout = scanner.layout(names)
        except error:  # it is shorter than it should be
            return
        values = layout.unpack(raw, ENCAPSULATION)
        if 10**9 * values[0] + values[1] == stamp and _bits(layout.arrays(values)) == _bits(arrays):
            if len(raw) not in self._layouts and len(self._layouts) >= MAX_SIZES:
                self._layouts.clear()
            alike = self._layouts.setdefault(len(raw), [])
            alike.append(layout)
            del alike[:-MAX_LAYOUTS]

    @abstractmethod
    def _scan(self, scanner: Scanner) -> None:
        """Walk through a message, from behind its stamp to the last number that is wanted."""

    @abstractmethod
    def _fields(self, message: Any) -> tuple[Names, Arrays]:
        """Return the names and the numbers of a message object."""

    @abstractmethod
    def _sample(self, stamp: int, names: Names, arrays: Arrays, received: int | None) -> Sample:
        """Return the sample made of them."""


class JointStateReader(CdrReader[JointSample]):
    """Reads sensor_msgs/JointState."""

    message_type = JointState

    def _scan(self, scanner: Scanner) -> None:
        scanner.string()
        scanner.strings()
        for _ in range(3):
            scanner.sequence()

    def _fields(self, message: JointState) -> tuple[Names, Arrays]:
        return tuple(message.name), (message.position, message.velocity, message.effort)

    def _sample(self, stamp: int, names: Names, arrays: Arrays, received: int | None) -> JointSample:
        position, velocity, effort = arrays
        return JointSample(stamp, names, position, velocity, effort, received)


class DesiredReader(CdrReader[DesiredSample]):
    """Reads the first point of trajectory_msgs/JointTrajectory."""

    message_type = JointTrajectory

    def _scan(self, scanner: Scanner) -> None:
        scanner.string()
        scanner.strings()
        scanner.length()
        for _ in range(3):
            scanner.sequence()

    def _fields(self, message: JointTrajectory) -> tuple[Names, Arrays]:
        if not message.points:
            raise MessageError("points", "empty", "expected one point with accelerations")
        point = message.points[0]
        return tuple(message.joint_names), (point.positions, point.velocities, point.accelerations)

    def _sample(self, stamp: int, names: Names, arrays: Arrays, received: int | None) -> DesiredSample:
        positions, velocities, accelerations = arrays
        return DesiredSample(stamp, names, positions, velocities, accelerations)


class WrenchReader(CdrReader[WrenchSample]):
    """Reads geometry_msgs/WrenchStamped."""

    message_type = WrenchStamped

    def _scan(self, scanner: Scanner) -> None:
        scanner.string()
        scanner.numbers(6)

    def _fields(self, message: WrenchStamped) -> tuple[Names, Arrays]:
        force, torque = message.wrench.force, message.wrench.torque
        return (message.header.frame_id,), ((force.x, force.y, force.z, torque.x, torque.y, torque.z),)

    def _sample(self, stamp: int, names: Names, arrays: Arrays, received: int | None) -> WrenchSample:
        return WrenchSample(stamp, names[0], arrays[0], received)


class PoseReader(CdrReader[PoseSample]):
    """Reads geometry_msgs/PoseStamped."""

    message_type = PoseStamped

    def _scan(self, scanner: Scanner) -> None:
        scanner.string()
        scanner.numbers(7)

    def _fields(self, message: PoseStamped) -> tuple[Names, Arrays]:
        p, q = message.pose.position, message.pose.orientation
        return (message.header.frame_id,), ((p.x, p.y, p.z, q.x, q.y, q.z, q.w),)

    def _sample(self, stamp: int, names: Names, arrays: Arrays, received: int | None) -> PoseSample:
        return PoseSample(stamp, names[0], arrays[0], received)


def _bits(arrays: Arrays) -> list[bytes]:
    """Return what tells numbers apart, NaN included."""
    return [array("d", numbers).tobytes() for numbers in arrays]
