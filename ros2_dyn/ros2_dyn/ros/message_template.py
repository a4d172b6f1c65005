# SPDX-License-Identifier: Apache-2.0
"""Messages of which only the stamp and some numbers change: serialised once, and patched for each publication."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from struct import Struct
from typing import Any, NamedTuple

from geometry_msgs.msg import WrenchStamped
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.serialization import deserialize_message, serialize_message
from ros2_dyn_interfaces.msg import CollisionState
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ros2_dyn.ros.messages import put_wrench

Put = Callable[[Any, Sequence[Any]], None]


class Part(NamedTuple):
    """Some values that lie side by side in the serialised message."""

    format: str
    """As in `struct`, such as "6d"."""
    put: Put
    """Puts the values into a message object."""

    def marker(self, seed: int) -> list[Any]:
        """Values that are found nowhere else in a message; those of two seeds differ."""
        size = Struct("<" + self.format).size
        if self.format.endswith("?"):
            return [bool(seed % 2)] * size
        if self.format.endswith("d"):
            return [(seed + 1.0) * 1.2345678e5 / (k + 3) for k in range(size // 8)]
        return [0x1234567 * (seed + 1), 0x2345671 * (seed + 1)]


class MessageTemplate:
    """A message that is made again and again with another stamp and other numbers.

    Attributes:
        patched: Whether serialised bytes are patched. Otherwise, as with a middleware that serialises in a way unknown
            here, a message object is filled.
    """

    def __init__(self, message: Any, *parts: Part, patch: bool = True) -> None:
        """Serialise a message.

        Args:
            message: the message, complete but for its stamp and parts; its arrays have their final lengths.
            parts: what changes, in the message's order.
            patch: whether to patch bytes, where that works.
        """
        self._message = message
        self._stamped = hasattr(message, "header")
        self._parts = (Part("iI", _put_stamp), *parts) if self._stamped else parts
        self._buffer = bytearray()
        self._packers: list[tuple[Callable[..., None], int]] = []
        self.patched = patch and hasattr(_rclpy.Publisher, "publish_raw") and self._find() and self._agrees()

    def render(self, stamp: int, *values: Sequence[Any]) -> Any:
        """Return what `Publisher.publish` takes: bytes, or a message object that the next call fills anew.

        Args:
            stamp: of the header, ns; unused where the message has none.
            values: of each part.
        """
        if self._stamped:
            values = divmod(stamp, 1_000_000_000), *values
        return self._patch(values) if self.patched else self._fill(values)

    def _patch(self, values: Sequence[Sequence[Any]]) -> bytes:
        buffer = self._buffer
        for (pack, offset), numbers in zip(self._packers, values):
            pack(buffer, offset, *numbers)
        return bytes(buffer)

    def _fill(self, values: Sequence[Sequence[Any]]) -> Any:
        for part, numbers in zip(self._parts, values):
            part.put(self._message, numbers)
        return self._message

    def _find(self) -> bool:
        """Find the parts in a serialised message; whether all are there."""
        markers = [part.marker(1) for part in self._parts]
        self._buffer = bytearray(serialize_message(self._fill(markers)))
        end = 0
        for part, marker in zip(self._parts, markers):
            pattern = Struct("<" + part.format)
            start = self._buffer.find(pattern.pack(*marker), end)
            if start < 0:
                return False
            self._packers.append((pattern.pack_into, start))
            end = start + pattern.size
        return True

    def _agrees(self) -> bool:
        """Whether patched bytes are read as the message that they should be."""
        markers = [part.marker(2) for part in self._parts]
        return bool(deserialize_message(self._patch(markers), type(self._message)) == self._fill(markers))


def effort_template(names: Sequence[str], frame: str = "", patch: bool = True) -> MessageTemplate:
    """Return that of a sensor_msgs/JointState with efforts.

    `render(stamp, efforts)`: N m or N, shape (n,).
    """
    message = JointState(name=list(names))
    message.header.frame_id = frame
    return MessageTemplate(message, _array("effort", len(names)), patch=patch)


def wrench_template(frame: str, patch: bool = True) -> MessageTemplate:
    """Return that of a geometry_msgs/WrenchStamped.

    `render(stamp, wrench)`: [force; moment], N and N m, shape (6,).
    """
    message = WrenchStamped()
    message.header.frame_id = frame
    return MessageTemplate(message, Part("6d", lambda filled, wrench: put_wrench(filled.wrench, wrench)), patch=patch)


def command_template(n: int, patch: bool = True) -> MessageTemplate:
    """Return that of a std_msgs/Float64MultiArray.

    `render(0, data)`: what the controller is sent, shape (n,).
    """
    return MessageTemplate(Float64MultiArray(), _array("data", n), patch=patch)


def collision_template(names: Sequence[str], frame: str, contact_link: str, patch: bool = True) -> MessageTemplate:
    """Return that of a CollisionState with a certain contact link.

    `render(stamp, residual, threshold, (*exceeded, collision))`: N m or N, shape (n,) each; and n + 1 booleans.
    """
    n = len(names)
    message = CollisionState(joint_names=list(names), contact_link=contact_link)
    message.header.frame_id = frame
    flags = Part(f"{n + 1}?", _put_flags)
    return MessageTemplate(message, _array("residual", n), _array("threshold", n), flags, patch=patch)


def _array(field: str, n: int) -> Part:
    """Return a field of n floating-point numbers."""
    return Part(f"{n}d", lambda message, values: setattr(message, field, array("d", values)))


def _put_stamp(message: Any, values: Sequence[int]) -> None:
    message.header.stamp.sec, message.header.stamp.nanosec = values


def _put_flags(message: CollisionState, values: Sequence[bool]) -> None:
    *exceeded, collision = map(bool, values)
    message.exceeded, message.collision = exceeded, collision
