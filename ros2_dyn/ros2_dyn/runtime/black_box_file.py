# SPDX-License-Identifier: Apache-2.0
"""Recordings of a black box as MCAP files of JSON messages: what they are is in docs/black_box.md, field by field.

Messages of one input have its number as their sequence: the input, the decision, and each event. Chunks are not
compressed, so that a file cannot grow when it is read.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.runtime.black_box import Recording
from ros2_dyn.runtime.input_records import Record
from ros2_dyn.version import own_version

METADATA = "black box"
MAX_FILE = 200_000_000
"""Bytes of a file that is read: ten times what a black box holds."""
MISSING = "mcap is not installed: pip install mcap"


class About(NamedTuple):
    """What is known of a recording besides its inputs."""

    reason: str
    """Why it was taken."""
    taken_at: str
    """Time of the reason, s."""
    ros2_dyn: str
    """Versions that recorded it: another one may decide otherwise."""
    python: str
    numpy: str
    processor: str

    def difference(self) -> str:
        """Return how this machine differs from the one that recorded, or an empty text."""
        here = describe_machine()
        return ", ".join(
            f"{name} {getattr(self, name)[:50]}, here {here[name]}"
            for name in here
            if getattr(self, name) != here[name]
        )


class Begin(NamedTuple):
    """The first message of a file."""

    now: float
    settings: dict[str, Any]
    description: Any
    mode: str
    whole: bool


def describe_machine() -> dict[str, str]:
    """Return the versions that a decision may depend on."""
    return {
        "ros2_dyn": own_version(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "processor": platform.machine(),
    }


def is_available() -> bool:
    """Return whether the library that reads and writes the files is installed."""
    try:
        import mcap.writer  # noqa: F401
    except ImportError:
        return False
    return True


def write(recording: Recording, path: Path, offset: float = 0.0, rest: Callable[[], None] = lambda: None) -> None:
    """Write a recording to a file, which appears when it is complete.

    Args:
        recording: what a black box held.
        path: the file.
        offset: what has to be added to the runtime's time for a time since 1970, s.
        rest: called after each input; lets others go on.

    Raises:
        InputError: mcap is not installed.
        OSError: the file cannot be written.
    """
    try:
        from mcap.writer import CompressionType, Writer
    except ImportError:
        raise InputError("black box", MISSING) from None
    unfinished = path.with_name(f".{path.name}.part")
    with unfinished.open("wb") as file:
        writer = Writer(file, compression=CompressionType.NONE)
        writer.start(profile="", library="ros2_dyn")
        about = About(recording.reason, repr(recording.taken_at), **describe_machine())
        writer.add_metadata(METADATA, about._asdict())
        messages = _Messages(writer, offset)
        begins, records = recording.begins, recording.records
        start = records[0].now if records else recording.taken_at
        begin = Begin(start, begins.settings, begins.description, begins.mode, begins.whole)
        messages.add("begin", start, 0, json.dumps(begin._asdict(), allow_nan=False).encode())
        for number, record in enumerate(begins.lasting):
            messages.add_input("lasting/", start, number, record)
        for number, record in enumerate(records, len(begins.lasting)):
            messages.add_input("input/", record.now, number, record)
            rest()
        writer.finish()  # type: ignore[no-untyped-call]
    unfinished.replace(path)


class _Messages:
    """Adds messages to a file, each on the topic of its kind."""

    def __init__(self, writer: Any, offset: float) -> None:
        self._writer, self._offset = writer, offset
        self._channels: dict[str, int] = {}

    def add(self, topic: str, now: float, number: int, data: bytes) -> None:
        """Add JSON at a time, s, with the number of its input."""
        if topic not in self._channels:
            schema = self._writer.register_schema(f"ros2_dyn/{topic}", "jsonschema", b'{"type": "object"}')
            self._channels[topic] = self._writer.register_channel(f"/{topic}", "json", schema)
        stamp = max(round(1e9 * (now + self._offset)), 0)
        self._writer.add_message(self._channels[topic], stamp, data, stamp, number)

    def add_input(self, topic: str, now: float, number: int, record: Record) -> None:
        """Add an input with its decision and events."""
        record = record.as_json()
        given = b'{"now": %s, "given": %s}' % (repr(float(record.now)).encode(), record.given)
        self.add(topic + record.kind, now, number, given)
        self.add("decision", now, number, record.decision)
        for event in json.loads(record.events or b"[]"):
            self.add("event", now, number, json.dumps(event).encode())


def is_black_box(path: Path) -> bool:
    """Return whether a file is one that a black box has written; False where it cannot be read."""
    try:
        from mcap.records import Metadata
        from mcap.stream_reader import StreamReader

        if path.stat().st_size > MAX_FILE:
            return False
        with path.open("rb") as file:  # chunks are not looked into, which may be compressed in files of others
            records = StreamReader(file, emit_chunks=True, record_size_limit=MAX_FILE).records
            return any(isinstance(each, Metadata) and each.name == METADATA for each in records)
    except Exception:  # the library raises whatever broken bytes lead to
        return False
