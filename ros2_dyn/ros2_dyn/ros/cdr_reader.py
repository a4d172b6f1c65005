# SPDX-License-Identifier: Apache-2.0
"""Messages as samples, read from their serialised bytes without a message object between.

A message is read the ordinary way once. Its layout (where the names and the numbers are) is kept, and later messages of
the same layout are read with one `struct` call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Sequence
from operator import itemgetter
from struct import Struct, error
from typing import Any, ClassVar, Generic, TypeVar

from geometry_msgs.msg import PoseStamped, WrenchStamped
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from ros2_dyn.errors import MessageError
from ros2_dyn.runtime.cdr_layout import ENCAPSULATION, JOINT_STATE, LITTLE_ENDIAN, STAMP_END, Field, scan
from ros2_dyn.runtime.inputs import DesiredSample, JointSample, PoseSample, WrenchSample

MAX_SIZES, MAX_LAYOUTS = 16, 4
"""Sizes of messages of which one reader keeps layouts, and layouts of one size."""
MAX_SIZE = 65536
"""Bytes of a message: joint states of 1000 joints. What is larger is not even deserialised."""

Sample = TypeVar("Sample")
Names = tuple[str, ...]
Arrays = Sequence[Sequence[float]]


class Layout:
    """Where the parts of a message are, for all messages whose constants (lengths and strings) are the same.

    Attributes:
        names: the names in them.
    """

    def __init__(self, raw: bytes, fields: Sequence[Field], names: Names) -> None:
        """Find it in a message; errors as of `scan`."""
        text, at, count, constants, numbers = "<iI", STAMP_END, 2, [], []
        for part in scan(raw, fields):
            items = 1
            if part.kind == "numbers":
                items = part.size // 8
                numbers.append(slice(count, count + items))
            else:
                constants.append(count)
            text += f"{part.start - at}x" + (f"{items}d" if part.kind == "numbers" else f"{part.size}s")
            at, count = part.start + part.size, count + items
        self.names = names
        self._unpack = Struct(text).unpack_from
        self._constants, self._slices = itemgetter(*constants), numbers
        self._expected = self._constants(self._unpack(raw, ENCAPSULATION))

    def read(self, raw: bytes) -> tuple[int, Arrays] | None:
        """Return stamp, ns, and numbers of a message of the same size; None where its layout is another one."""
        values = self._unpack(raw, ENCAPSULATION)
        if self._constants(values) != self._expected:
            return None
        return 1_000_000_000 * values[0] + values[1], [values[part] for part in self._slices]


class CdrReader(ABC, Generic[Sample]):
    """Reads the serialised messages of one topic."""

    message_type: ClassVar[Any]
    fields: ClassVar[Sequence[Field]]
    """What follows its stamp, up to the last number that is wanted."""

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
                if (found := layout.read(raw)) is not None:
                    return self._sample(found[0], layout.names, found[1], received)
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
            layout = Layout(raw, self.fields, names)
        except error:  # it is shorter than it should be
            return
        found = layout.read(raw)
        if found is not None and found[0] == stamp and _bits(found[1]) == _bits(arrays):
            if len(raw) not in self._layouts and len(self._layouts) >= MAX_SIZES:
                self._layouts.clear()
            alike = self._layouts.setdefault(len(raw), [])
            alike.append(layout)
            del alike[:-MAX_LAYOUTS]

    @abstractmethod
    def _fields(self, message: Any) -> tuple[Names, Arrays]:
        """Return the names and the numbers of a message object."""

    @abstractmethod
    def _sample(self, stamp: int, names: Names, arrays: Arrays, received: int | None) -> Sample:
        """Return the sample made of them."""


class JointStateReader(CdrReader[JointSample]):
    """Reads sensor_msgs/JointState."""

    message_type = JointState
    fields = JOINT_STATE

    def _fields(self, message: JointState) -> tuple[Names, Arrays]:
        return tuple(message.name), (message.position, message.velocity, message.effort)

    def _sample(self, stamp: int, names: Names, arrays: Arrays, received: int | None) -> JointSample:
        position, velocity, effort = arrays
        return JointSample(stamp, names, position, velocity, effort, received)


class DesiredReader(CdrReader[DesiredSample]):
    """Reads the first point of trajectory_msgs/JointTrajectory."""

    message_type = JointTrajectory
    fields = ("string", "strings", "length", "doubles", "doubles", "doubles")

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
    fields = ("string", 6)

    def _fields(self, message: WrenchStamped) -> tuple[Names, Arrays]:
        force, torque = message.wrench.force, message.wrench.torque
        return (message.header.frame_id,), ((force.x, force.y, force.z, torque.x, torque.y, torque.z),)

    def _sample(self, stamp: int, names: Names, arrays: Arrays, received: int | None) -> WrenchSample:
        return WrenchSample(stamp, names[0], arrays[0], received)


class PoseReader(CdrReader[PoseSample]):
    """Reads geometry_msgs/PoseStamped."""

    message_type = PoseStamped
    fields = ("string", 7)

    def _fields(self, message: PoseStamped) -> tuple[Names, Arrays]:
        p, q = message.pose.position, message.pose.orientation
        return (message.header.frame_id,), ((p.x, p.y, p.z, q.x, q.y, q.z, q.w),)

    def _sample(self, stamp: int, names: Names, arrays: Arrays, received: int | None) -> PoseSample:
        return PoseSample(stamp, names[0], arrays[0], received)


def _bits(arrays: Arrays) -> list[bytes]:
    """Return what tells numbers apart, NaN included."""
    return [array("d", numbers).tobytes() for numbers in arrays]
