# SPDX-License-Identifier: Apache-2.0
"""Writes joint states into a rosbag2 file, by rosbags, so without ROS."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from ros2_dyn.errors import InputError

TOPIC = "/joint_states"
TYPE = "sensor_msgs/msg/JointState"


class JointStateBag:
    """A bag with one topic, open within a `with` statement."""

    def __init__(self, path: str | Path) -> None:
        """Open a bag.

        Args:
            path: folder that is made.

        Raises:
            InputError: rosbags is not installed, or the folder exists or cannot be made.
        """
        try:
            from rosbags.rosbag2 import Writer, WriterError
            from rosbags.typesys import Stores, get_typestore
        except ImportError as error:
            problem = "rosbags, which writes bags, is not installed: pip install rosbags"
            raise InputError("recording", problem) from error
        try:
            self._writer = Writer(Path(path), version=8)  # which all of Humble to Rolling read
            self._writer.open()
        except (OSError, WriterError) as error:
            raise InputError("recording", f"'{path}' cannot be written: {error}") from error
        store = get_typestore(Stores.ROS2_HUMBLE)
        self._connection = self._writer.add_connection(TOPIC, TYPE, typestore=store)

    def __enter__(self) -> JointStateBag:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._writer.close()

    def write(self, received: int, message: bytes) -> None:
        """Write a message as it came, in CDR, received at a time, ns."""
        self._writer.write(self._connection, received, message)
