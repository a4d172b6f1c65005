# SPDX-License-Identifier: Apache-2.0
"""Recordings of a black box as MCAP files: JSON messages to look at with Foxglove or `mcap`, and what a replay needs.

Each input is a message on a topic of its name, with what it led to. Whatever replays needs is an attachment, to the
last bit; see `checkpoint.loads` for why it is safe to read.
"""

from __future__ import annotations

import json
import platform
import zlib
from collections.abc import Callable
from dataclasses import is_dataclass
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ros2_dyn.errors import InputError, shorten
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime import checkpoint
from ros2_dyn.runtime.checkpoint import Checkpoint
from ros2_dyn.runtime.decision_record import Record, Recording, read_record
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.version import own_version

REPLAY, SETTINGS = "replay", "settings.json"
"""Names of attachments."""
METADATA = "black box"
MAX_REPLAY = 200_000_000
"""Bytes of a record to be replayed: many times what a black box holds."""
SCHEMA = b'{"type": "object"}'
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
            f"{name} {getattr(self, name)}, here {here[name]}" for name in here if getattr(self, name) != here[name]
        )


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
        rest: called after each message; lets others go on.

    Raises:
        InputError: mcap is not installed.
        OSError: the file cannot be written.
    """
    try:
        from mcap.writer import Writer
    except ImportError:
        raise InputError("black box", MISSING) from None
    unfinished = path.with_name(f".{path.name}.part")
    with unfinished.open("wb") as file:
        writer = Writer(file)
        writer.start(profile="", library="ros2_dyn")
        about = About(recording.reason, repr(recording.taken_at), **describe_machine())
        writer.add_metadata(METADATA, about._asdict())
        stamp = round(1e9 * (recording.taken_at + offset))
        settings = next((each for each in recording.begins.constants if isinstance(each, Settings)), Settings())
        text = json.dumps(settings.values(), indent=1).encode()
        writer.add_attachment(stamp, stamp, SETTINGS, "application/json", text)
        constants = checkpoint.dumps(recording.begins.constants)
        rest()
        data = checkpoint.dumps(
            (about.reason, recording.taken_at, constants, recording.begins.state, recording.records)
        )
        rest()
        writer.add_attachment(stamp, stamp, REPLAY, "application/zlib", zlib.compress(data))
        _write_messages(writer, recording, offset, rest)
        writer.finish()  # type: ignore[no-untyped-call]
    unfinished.replace(path)


def _write_messages(writer: Any, recording: Recording, offset: float, rest: Callable[[], None]) -> None:
    channels: dict[str, int] = {}
    schema = writer.register_schema("ros2_dyn.Input", "jsonschema", SCHEMA)
    for number, data in enumerate(recording.records):
        record = read_record(data)
        if record.method not in channels:
            channels[record.method] = writer.register_channel(f"/{record.method}", "json", schema)
        stamp = max(round(1e9 * (record.now + offset)), 0)
        text = json.dumps(_message(record), allow_nan=False).encode()
        writer.add_message(channels[record.method], stamp, text, stamp, number)
        rest()


def _message(record: Record) -> dict[str, Any]:
    """Return an input and what it led to as JSON."""
    decision = record.decision
    result = decision._replace(effort=None)._asdict()
    del result["effort"]
    return _plain(record.arguments | {"decision": result | {"command": decision.command}})


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it; numbers that are not finite are null."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, str):
        return shorten(value)
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, RobotModel):
        return value.name
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(vars(value))
    if isinstance(value, (list, tuple)) or hasattr(value, "__iter__"):
        return [_plain(item) for item in value]
    return shorten(repr(value))


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
        from mcap.reader import make_reader
    except ImportError:
        raise InputError("file", MISSING) from None
    try:
        with path.open("rb") as file:
            reader = make_reader(file)
            about = next((each.metadata for each in reader.iter_metadata() if each.name == METADATA), None)
            packed = next((each.data for each in reader.iter_attachments() if each.name == REPLAY), None)
    except Exception as error:  # the library raises whatever broken bytes lead to
        raise InputError("file", f"'{path}' cannot be read: {error or type(error).__name__}") from error
    if about is None or packed is None:
        raise InputError("file", f"'{path}' is no recording of a black box")
    return _unpack(packed, path), About(*(about.get(name, "") for name in About._fields))


def _unpack(packed: bytes, path: Path) -> Recording:
    try:
        data = zlib.decompressobj().decompress(packed, MAX_REPLAY)
        reason, taken_at, constants, state, records = checkpoint.loads(data)
        return Recording(reason, taken_at, Checkpoint(checkpoint.loads(constants), state), records)
    except (zlib.error, InputError, TypeError, ValueError) as error:
        raise InputError("file", f"'{path}' is broken: {error}") from error
