# SPDX-License-Identifier: Apache-2.0
"""Reads the files that a black box has written, and their records: nothing that they hold is trusted."""

from __future__ import annotations

import json
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any

from ros2_dyn.errors import InputError, Ros2DynError
from ros2_dyn.model.plain import from_plain
from ros2_dyn.runtime.black_box import Beginning, Recording
from ros2_dyn.runtime.black_box_file import MAX_FILE, METADATA, MISSING, About, Begin
from ros2_dyn.runtime.input_records import KINDS, Decision, Record

MAGIC = b"\x89MCAP"
"""The first bytes of every MCAP file."""


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
        advice = "it is broken or cut off; `mcap recover` keeps what can be read"
        raise InputError("file", f"'{path}' cannot be read: {advice} ({type(error).__name__}: {error})") from error
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
    begin = _parse(messages[0][2], "begin")
    if not isinstance(begin, dict) or set(begin) != set(Begin._fields):
        raise InputError("begin", f"expected an object with {', '.join(Begin._fields)}")
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
    value = _parse(data, kind)
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


def read_record(record: Record) -> tuple[Any, Decision]:
    """Return an input and its decision.

    Raises:
        InputError: something in it is not as it has to be.
    """
    kind, now, given, decision, events, _ = record.as_json()
    if kind not in KINDS:
        raise InputError("input", f"there is no input '{kind[:100]}'")
    found = _parse(decision, f"decision at {now:.4f} s")
    happened = _parse(events, "events") if events else []
    if isinstance(found, dict) and "events" in found:
        raise InputError("decision", "events are messages of their own")
    value = from_plain(KINDS[kind], _parse(given, kind), kind)
    return value, from_plain(Decision, {**_object(found, "decision"), "events": happened}, "decision")


def _parse(data: bytes, where: str) -> Any:
    """Return the value of JSON; numbers that JSON has not are refused.

    Raises:
        InputError: it is no JSON.
    """

    def refuse(name: str) -> None:
        raise InputError(where, f"{name} is no number of JSON")

    try:
        return json.loads(data, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise InputError(where, f"no JSON: {error}") from error


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(where, "expected an object")
    return value
