# SPDX-License-Identifier: Apache-2.0
"""Recordings of a black box as MCAP files of JSON messages: what they are is in docs/black_box.md, field by field.

Messages of one input have its number as their sequence: the input, the decision, and each event. Chunks are not
compressed, so that a file cannot grow when it is read.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ros2_dyn.errors import InputError, Ros2DynError
from ros2_dyn.model.plain import from_plain
from ros2_dyn.runtime.black_box import Beginning, Recording
from ros2_dyn.runtime.input_records import KINDS, Record, parse
from ros2_dyn.version import own_version

METADATA = "black box"
MAGIC = b"\x89MCAP"
"""The first bytes of every MCAP file."""
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


class _Begin(NamedTuple):
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
        begin = _Begin(start, begins.settings, begins.description, begins.mode, begins.whole)
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
        from mcap.reader import make_reader

        with path.open("rb") as file:
            return any(each.name == METADATA for each in make_reader(file).iter_metadata())
    except Exception:  # the library raises whatever broken bytes lead to
        return False


def read(path: Path) -> tuple[Recording, About]:
    """Return the recording of a file, and what is known of it.

    Raises:
        InputError: mcap is not installed, the file cannot be read, or it holds no recording of a black box.
    """
    try:
        from mcap.reader import NonSeekingReader
    except ImportError:
        raise InputError("file", MISSING) from None
    try:
        if path.stat().st_size > MAX_FILE:
            raise InputError("file", f"'{path}' is larger than {MAX_FILE} bytes")
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise InputError("file", f"'{path}' cannot be read: it is no MCAP file")
            file.seek(0)
            _check_plain(file, path)
            found = _metadata(NonSeekingReader(file))
            file.seek(0)
            messages = [
                (channel.topic[1:], message.sequence, message.data)
                for _, channel, message in NonSeekingReader(file).iter_messages(log_time_order=False)
            ]
    except InputError:
        raise
    except OSError as error:
        raise InputError("file", f"'{path}' cannot be read: {error.strerror}") from error
    except Exception as error:  # the library raises whatever broken bytes lead to
        raise InputError("file", f"'{path}' cannot be read: {type(error).__name__}: {error}") from error
    if not set(About._fields) <= set(found):
        raise InputError("file", f"'{path}' holds no recording of a black box")
    if len(messages) > 1_000_000:
        raise InputError("file", f"'{path}' holds more than a million messages")
    about = About(*(str(found[name]) for name in About._fields))
    try:
        return _recording(messages, about), about
    except Ros2DynError as error:
        raise InputError("file", f"'{path}': {error}") from error


def _metadata(reader: Any) -> dict[str, str]:
    """Return what is known of a recording; empty where no black box has written the file."""
    return next((each.metadata for each in reader.iter_metadata() if each.name == METADATA), {})


def _check_plain(file: Any, path: Path) -> None:
    """Check that no chunk is compressed: a small one could hold any number of bytes."""
    from mcap.records import Chunk
    from mcap.stream_reader import StreamReader

    for record in StreamReader(file, emit_chunks=True, record_size_limit=MAX_FILE).records:
        if isinstance(record, Chunk) and record.compression:
            raise InputError("file", f"'{path}' is compressed: run `mcap decompress` on it first")
    file.seek(0)


def _recording(messages: list[tuple[str, int, bytes]], about: About) -> Recording:
    """Return the recording that the messages of a file make, each with its topic and number."""
    if not messages or messages[0][0] != "begin":
        raise InputError("begin", "the first message has to be on this topic")
    begin = parse(messages[0][2], "begin")
    if not isinstance(begin, dict) or set(begin) != set(_Begin._fields):
        raise InputError("begin", f"expected an object with {', '.join(_Begin._fields)}")
    mode, whole = from_plain(str, begin["mode"], "mode"), from_plain(bool, begin["whole"], "whole")
    lasting: list[Record] = []
    records: list[Record] = []
    rows: dict[int, list[tuple[str, bytes]]] = {}
    for topic, number, data in messages[1:]:
        rows.setdefault(number, []).append((topic, data))
    for number in sorted(rows):
        record, lasts = _record(rows[number], number)
        (lasting if lasts else records).append(record)
    if any(later.now < record.now for record, later in pairwise(records)):
        raise InputError("now", "the time of an input is before that of the one before it")
    taken_at = from_plain(float, _float(about.taken_at), "taken_at")
    begins = Beginning(begin["settings"], begin["description"], mode, whole, tuple(lasting))
    return Recording(about.reason, taken_at, begins, tuple(records))


def _record(row: list[tuple[str, bytes]], number: int) -> tuple[Record, bool]:
    """Return the record of the messages of one number, and whether it lasts from before."""
    given = [(topic, data) for topic, data in row if topic.startswith(("input/", "lasting/"))]
    decisions = [data for topic, data in row if topic == "decision"]
    events = [data for topic, data in row if topic == "event"]
    if len(given) != 1 or len(decisions) != 1 or len(row) != 2 + len(events):
        raise InputError("sequence", f"expected one input and one decision with the number {number}")
    topic, data = given[0]
    kind = topic.split("/", 1)[1]
    if kind not in KINDS:
        raise InputError("topic", f"there is no input '{kind[:100]}'")
    value = parse(data, kind)
    if not isinstance(value, dict) or set(value) != {"now", "given"}:
        raise InputError(kind, "expected an object with now and given")
    now = from_plain(float, value["now"], f"{kind}.now")
    if not isfinite(now):
        raise InputError(f"{kind}.now", "expected a finite number")
    happened = b"[" + b",".join(events) + b"]" if events else b""
    record = Record(kind, now, json.dumps(value["given"]).encode(), decisions[0], happened)
    return record, topic.startswith("lasting/")


def _float(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
